"""The entry point of the app: page settings, menu and language; each page is a file of pages/."""

from pages.parts.address_class import keep_seat
from pages.parts.address_setup import collect_shared, write_shared
from pages.parts.menu import begin_at_top, let_go_of_fields, menu, page_settings, tell_language
from pages.parts.projector import projector_switch
from pages.parts.words import language_switch

page_settings()
page = menu()
begin_at_top()
tell_language()
collect_shared()
keep_seat()
page.run()
projector_switch()
language_switch()
write_shared()
let_go_of_fields()

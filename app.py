"""The entry point of the app: page settings, menu and language; each page is a file of pages/."""

from pages.parts.menu import begin_at_top, let_go_of_fields, menu, page_settings
from pages.parts.words import language_switch

page_settings()
page = menu()
begin_at_top()
page.run()
language_switch()
let_go_of_fields()

"""The course: lessons as data files, what is asked in them, what was answered, and exercises that check themselves."""

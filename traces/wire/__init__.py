"""What providers send and receive, turned into OpenAI Chat form: one module per API, used by readers of any format.

Saved traces of many kinds hold the same requests and responses inside. A reader finds them; a module here reads them.
"""

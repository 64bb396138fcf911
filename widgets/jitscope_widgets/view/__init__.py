"""A view as data: a tree of parts, made from a document once, which text, static HTML and the live page draw.

`parts` has the kinds of parts; `as_text`, `as_html` and `as_data` (what js/parts draws) are the renderers. The functions from documents
to parts are in `jitscope_widgets.views`, one file a kind of document; they know neither HTML nor terminals.
"""

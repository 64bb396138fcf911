"""Print the JSON schema of documents: `python -m jitscope_widgets.documents`."""

import json

from .schema import schema


print(json.dumps(schema(), indent=1, ensure_ascii=False))

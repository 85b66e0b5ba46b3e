"""The program for spark-submit: `spark-submit --py-files aclweb.zip run_pipeline.py usage …`."""

from __future__ import annotations

import sys

from aclweb.pipeline.__main__ import main

if __name__ == "__main__":
    sys.exit(main())

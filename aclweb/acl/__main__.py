"""Run `python -m aclweb.acl COMMAND`; needs no package beside Python itself."""

import gc
import sys

from aclweb.acl.cli.main import main

if __name__ == "__main__":
    # A command lives for seconds and keeps what it reads: looking for garbage would only cost time.
    gc.disable()
    sys.exit(main())

#!/bin/sh
# Installs Debian's PostgreSQL for the tests of the workbench on it; without the right to install,
# or off Debian, those tests are skipped.
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    (apt-get update -qq && apt-get install -y -qq postgresql) >/dev/null 2>&1 ||
        echo "PostgreSQL could not be installed: its tests will be skipped" >&2
else
    echo "PostgreSQL is not installed: its tests will be skipped" >&2
fi

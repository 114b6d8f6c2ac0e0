#!/bin/sh
# Installs Debian's Chromium for the tests that look at our pages; without the right to install,
# or off Debian, those tests are skipped.
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    (apt-get update -qq && apt-get install -y -qq chromium chromium-driver) >/dev/null 2>&1 ||
        echo "chromium could not be installed: browser tests will be skipped" >&2
else
    echo "chromium is not installed: browser tests will be skipped" >&2
fi

#!/usr/bin/env bash
# Installs what the tests of pages need: Debian's headless Chromium and one font.
# Does nothing where `chromium` is there. Usage: scripts/install-chromium.sh
set -euo pipefail
packages=(chromium fonts-dejavu-core)

if command -v chromium >/dev/null; then
  exit 0
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  as_root=(sudo --non-interactive)
fi
if ! command -v apt-get >/dev/null || { [ "${#as_root[@]}" -gt 0 ] && ! sudo --non-interactive true 2>/dev/null; }; then
  echo "install-chromium: needs apt-get (Debian, Ubuntu), as root or with sudo; else put a \`chromium\` on the PATH" >&2
  exit 2
fi
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}"

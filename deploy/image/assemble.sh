#!/bin/sh
# Lays out the final image's two layers: <image>/base (Node and its libraries, seldom changes) and <image>/app.
#   assemble.sh <built source> <production install> <image>
set -eu
source=$1
production=$2
image=$3
base=$image/base
app=$image/app
owner=65532

# Node and exactly the shared libraries that it names, at the paths where the loader looks for them.
mkdir -p "$base/usr/local/bin" "$base/etc" "$base/tmp"
chmod 1777 "$base/tmp"
cp /usr/local/bin/node "$base/usr/local/bin/node"
ldd /usr/local/bin/node | grep -o '/[^ ]*' | while read -r library; do
  mkdir -p "$base$(dirname "$library")"
  cp --dereference "$library" "$base$library"
done
# Names are looked up in the hosts file, then in DNS; the user has a name, because Node asks for it.
printf 'hosts: files dns\n' > "$base/etc/nsswitch.conf"
printf 'root:x:0:0::/:/none\ntenure:x:%s:%s::/app:/none\n' "$owner" "$owner" > "$base/etc/passwd"
printf 'root:x:0:\ntenure:x:%s:\n' "$owner" > "$base/etc/group"

# A volume takes its owner from the folder that it is first mounted on: one for each user's seed, one for all of
# them together, one for what the NATS servers read.
for user in all nats provision compactor component system $(ls "$source/services"); do
  mkdir -p "$base/credentials/$user"
done
chown -R "$owner:$owner" "$base/credentials"
chmod -R 0700 "$base/credentials"

# The workspaces that the production install links to, compiled, and nothing else of the repository.
mkdir -p "$app"
cp -R "$production/node_modules" "$app/node_modules"
rm -rf "$app/node_modules/.package-lock.json" "$app/node_modules/.bin"
for link in "$app"/node_modules/@tenure/*; do
  workspace=$(readlink "$link")
  workspace=${workspace#../../}
  mkdir -p "$app/$workspace"
  cp "$source/$workspace/package.json" "$app/$workspace/"
  cp -R "$source/$workspace/dist" "$app/$workspace/dist"
  # Dependencies whose version differs from the shared one are installed beside the workspace.
  if [ -d "$production/$workspace/node_modules" ]; then
    cp -R "$production/$workspace/node_modules" "$app/$workspace/node_modules"
  fi
done
cp -R "$source/deploy/image" "$app/image"
rm "$app/image/assemble.sh"
cp "$source/package.json" "$app/package.json"

# Declarations and source maps serve editors, not a running service.
find "$app" -type f \( -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.map' -o -name '*.md' \) -delete

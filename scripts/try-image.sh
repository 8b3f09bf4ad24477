#!/bin/sh
# Runs the steps of deploy/Dockerfile without a container engine: the build in a directory that has only what
# deploy/Dockerfile.dockerignore lets through, the program as another user in a root where only its data can be written.
# Needs root and the package registry. Usage: scripts/try-image.sh DIRECTORY (new)
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir "$1"
place=$(cd "$1" && pwd)
mkdir "$place/build" "$place/app" "$place/data"
cd "$root"
tar -c $(sed -n 's/^!//p' deploy/Dockerfile.dockerignore) | tar -x -C "$place/build"
cd "$place/build"
npm ci --ignore-scripts --no-audit --no-fund
npm run build
node scripts/package.mjs --manifest > shipped.json
mv shipped.json package.json
npm prune --no-audit --no-fund
cp -a package.json LICENSE node_modules dist deploy/health-check.mjs "$place/app/"
chown -R 65534:65534 "$place/data"
chmod 0755 "$place"
du -sh "$place/app"
# Runs inside the read-only root: the health check of the Dockerfile must succeed, and a clean stop must follow.
cat > "$place/app/try.sh" <<'TRY'
if touch /var/probe 2>/dev/null; then echo 'the root can be written'; exit 1; fi
node "$1" serve &
pid=$!
for _ in $(seq 30); do
  sleep 1
  if node "$2"; then
    kill "$pid"
    wait "$pid" && echo healthy && exit 0
  fi
done
kill "$pid"
echo 'not healthy'
exit 1
TRY
export place
exec unshare --mount sh -eu -c '
  mount --make-rprivate /
  mount --bind / /mnt
  mount -o remount,ro,bind /mnt
  mount --rbind /dev /mnt/dev
  mount --rbind /proc /mnt/proc
  mount -t tmpfs tmpfs /mnt/tmp
  # Again, for a directory below /tmp.
  mkdir -p "/mnt$place"
  mount --bind "$place" "/mnt$place"
  mount -o remount,ro,bind "/mnt$place"
  mount --bind "$place/data" "/mnt$place/data"
  exec chroot --userspec=65534:65534 /mnt env -i PATH="$PATH" HOST=127.0.0.1 PORT=18799 \
    SIGNALBOX_DATA_DIR="$place/data" sh "$place/app/try.sh" "$place/app/dist/cli/signalbox.js" "$place/app/health-check.mjs"
'

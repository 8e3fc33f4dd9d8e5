# Makes what a container sees of the machine, and becomes its program. In a mount namespace of its own.
#
# ROOT USER:GROUP MOUNTS COMMAND...
set -eu
root=$1 user=$2 mounts=$3
shift 3

mount -t tmpfs -o mode=755 root "$root"
mkdir "$root/proc"
mount -t proc proc "$root/proc"
while IFS='	' read -r mode source target; do
    mkdir -p "$root${target%/*}"
    if [ "$mode" = link ]; then
        cp -d "$source" "$root$target"
        continue
    elif [ -d "$source" ]; then
        mkdir -p "$root$target"
    elif [ ! -e "$root$target" ]; then
        : >"$root$target"
    fi
    mount --bind -o "$mode" "$source" "$root$target"
done <"$mounts"
mount -o remount,ro "$root"
exec setpriv --no-new-privs chroot --userspec="$user" --groups= "$root" "$@"

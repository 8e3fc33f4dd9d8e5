# Makes what a container sees of the machine, and becomes its program. In a mount namespace of its own.
#
# ROOT ROOT_MODE USER:GROUP GROUPS MOUNTS HOSTNAME COMMAND...
set -eu
root=$1 root_mode=$2 user=$3 groups=$4 mounts=$5 hostname=$6
shift 6

echo "$hostname" >/proc/sys/kernel/hostname
mount -t tmpfs -o mode=755 root "$root"
mkdir "$root/proc" "$root/tmp"
chmod 1777 "$root/tmp"
mount -t proc proc "$root/proc"
while IFS='	' read -r mode source target; do
    mkdir -p "$root${target%/*}"
    if [ -L "$source" ] && [ "$mode" = link ]; then
        cp -d "$source" "$root$target"
        continue
    elif [ -d "$source" ]; then
        mkdir -p "$root$target"
    else
        : >>"$root$target"
    fi
    mount --bind -o "$mode" "$source" "$root$target"
done <"$mounts"
mount -o "remount,$root_mode" "$root"
exec setpriv --no-new-privs chroot --userspec="$user" --groups="$groups" "$root" "$@"

# Functions of the scripts: the needed packages, and their installation. Sourced by bash.

# The headers of the plugin are for one version of GCC: the installed one, or the one that apt would install.
gcc_major() {
	local major
	major=$(gcc -dumpversion 2>/dev/null | cut -d. -f1)
	[ -n "$major" ] || major=$(apt-cache depends gcc 2>/dev/null |
		sed -n 's/^ *Depends: gcc-\([0-9]*\)$/\1/p')
	echo "${major:-12}"
}

# Packages of node from elsewhere contain npm; Debian's do not.
npm_package() {
	command -v npm >/dev/null || echo npm
}

packages_build="meson ninja-build gcc g++ gcc-$(gcc_major)-plugin-dev libc6-dev pkg-config
	libelf-dev libdw-dev libcapstone-dev libiberty-dev libzstd-dev zlib1g-dev
	liblzma-dev libtraceevent-dev libtracefs-dev libsqlite3-dev libedit-dev
	libncurses-dev libmicrohttpd-dev libcurl4-openssl-dev"
# Of script/kernel; without linux-source-6.1, since its option --source names other sources.
packages_kernel_build="gcc binutils make flex bison bc libelf-dev xz-utils"
packages_kernel="$packages_build $packages_kernel_build linux-source-6.1 qemu-system-x86 cpio"
packages_test="$packages_build python3 binutils clang clang-format lld libclang-rt-dev linux-perf
	hotspot valgrind mandoc zsh fish qemu-system-x86 qemu-user busybox-static cpio xz-utils
	procps make babeltrace2 sqlite3 tcl dpkg-dev nodejs default-jdk-headless libdebuginfod1 gdb libc6-dbg
	llvm tmux chromium python3-yaml python3-kubernetes $(npm_package)"
# The package starts its service where systemd runs; in a container it does not.
[ -d /run/systemd/system ] || packages_test="$packages_test clickhouse-server"

missing_packages() {
	local name
	for name in "$@"; do
		case "$(dpkg-query -W -f '${Status}' "$name" 2>/dev/null)" in
		*" installed") ;;
		*) echo "$name" ;;
		esac
	done
}

# as_root COMMAND...: runs it as root; fails if that needs a password.
as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		return 1
	fi
}

apt() {
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@"
}

lists_are_stale() {
	[ -z "$(find /var/lib/apt/lists -maxdepth 1 -name '*_Packages*' -mtime -7 2>/dev/null)" ]
}

# install_packages NAME...: installs the missing packages.
install_packages() {
	local log=build-logs/packages.log missing
	mkdir -p build-logs
	missing=$(missing_packages "$@" | tr '\n' ' ')
	[ -n "$missing" ] || return 0
	if ! command -v apt-get >/dev/null; then
		echo "These Debian packages are missing, and apt-get is not installed: $missing" >&2
		return 1
	fi
	if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
		echo "Packages are missing. As root: apt-get install --no-install-recommends $missing" >&2
		return 1
	fi
	echo "Installing: $missing"
	if lists_are_stale; then
		apt update >>"$log" 2>&1 || true
	fi
	# shellcheck disable=SC2086
	apt install --no-install-recommends -y $missing >>"$log" 2>&1 ||
		{ apt update >>"$log" 2>&1 &&
			apt install --no-install-recommends -y $missing >>"$log" 2>&1; } ||
		{ tail -n 20 "$log" >&2; echo "apt-get failed; see $log" >&2; return 1; }
}

# The directories of Debian for libraries and pkg-config files. Meson asks dpkg-architecture, which
# not every machine has, and otherwise uses lib64.
libdir() {
	local machine
	[ ! -e /etc/debian_version ] || machine=$(gcc -print-multiarch 2>/dev/null)
	[ -z "${machine:-}" ] || echo "-Dlibdir=lib/$machine"
}

# build DIRECTORY [MESON OPTIONS...]: configures and compiles; its log is in build-logs/.
build() {
	local directory=$1 log=build-logs/$1.log
	shift
	mkdir -p build-logs
	: >"$log"
	if [ ! -e "$directory/build.ninja" ]; then
		rm -rf "$directory"
		meson setup "$directory" $(libdir) "$@" >>"$log" 2>&1
	else
		# Configures again, so that new tests are found.
		meson setup --reconfigure "$directory" "$@" >>"$log" 2>&1
	fi && ninja -k 0 -C "$directory" >>"$log" 2>&1 && return 0
	grep -m 40 -E '^FAILED|(^|[ :])error: |ERROR:|undefined reference' "$log" >&2 || tail -n 40 "$log" >&2
	echo "Building $directory failed; see $log" >&2
	return 1
}

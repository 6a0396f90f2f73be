/** Where the state is, in the image and of the unit. */
export const STATE = '/var/lib/beaconchain-exporter';

/** Absolute paths of a container, of another user or of the system lead below the folder. */
const INSIDE = `
inside=()
for word in "$@"; do
  inside+=("$(sed -E 's#(^|[ =:])/(prometheus|var/lib|etc/(beaconchain-exporter|grafana))(/|$)#\\1'"$FAKE_ROOT"'/\\2\\4#g' <<< "$word")")
done
exec "\${inside[@]}"`;

/** A server gets SIGTERM as soon as it listens, and must end with 0. One that does not listen in two minutes is killed. */
const SERVING = `
log=$(mktemp -p "$FAKE_ROOT")
"$@" > "$log" 2>&1 &
while kill -0 $! 2>/dev/null; do
  if grep -Eq '"(listening|simulated service)"' "$log"; then kill -TERM $! && break; fi
  if [ $SECONDS -gt 120 ]; then kill -KILL $! && break; fi
  sleep 0.05
done
wait $! && code=0 || code=$?
cat "$log"
exit $code`;

const SUDO = `
[ "$1" = -u ] && shift 2
exec inside env "$@"`;

const SYSTEMD_RUN = `
while [[ $1 == -* ]]; do
  if [ "$1" = -p ]; then
    [[ $2 == WorkingDirectory=* ]] && cd "\${2#*=}"
    shift
  fi
  shift
done
exec "$@"`;

/** Files of other users and root are ours here. */
const INSTALL = `
[ "$1" = -o ] && shift 2
exec /usr/bin/install "$@"`;

/** scripts/try-deb starts the service. */
const SYSTEMCTL = `
unit="$FAKE_ROOT/etc/systemd/system/\${!#}.service"
case "$*" in
  daemon-reload) exit ;;
  'reload '*|'restart '*|'stop '*|'start '*|'edit '*|'reset-failed '*) [ -f "$unit" ] ;;
  *) echo "systemctl $*: no stand-in"; exit 64 ;;
esac`;

const JOURNALCTL = `[ "$1" = -u ] && [ -f "$FAKE_ROOT/etc/systemd/system/$2.service" ]`;

/** A container is its program, run in the folder; what starts and stops containers only needs names that are there. */
const DOCKER = `
refuse() { echo "docker: $*"; exit 64; }
exporter() { cd "$FAKE_ROOT${STATE}" && exec inside beaconchain-exporter "$@"; }
case $1 in
  build) [ -f "\${!#}/Dockerfile" ] || refuse "no Dockerfile"; exit ;;
  run)
    image=0
    for ((i = 1; i <= $#; i++)); do [ "\${!i}" = beaconchain-exporter ] && image=$i; done
    [ $image -gt 0 ] || refuse "there is no such image"
    shift $image && exporter "$@" ;;
  compose) shift ;;
  *) refuse "no stand-in for $1" ;;
esac
[ -f compose.yaml ] || refuse "no compose.yaml"
if [ "$1" = --env-file ]; then [ -f "$2" ] || refuse "no $2"; shift 2; fi
command=$1 && shift
while [[ $1 == -* ]]; do shift; done
[ $# = 0 ] || grep -q "^  $1:" compose.yaml || refuse "there is no service $1"
case $command in
  up|down|logs|stop|restart) exit ;;
  run) shift && exporter "$@" ;;
  exec) [ "$1" = prometheus ] && cd "$FAKE_ROOT/prometheus" || cd "$FAKE_ROOT${STATE}"; shift && exec inside "$@" ;;
  *) refuse "no stand-in for compose $command" ;;
esac`;

const KUBECTL = `
set -e
there() { grep -q "name: $1\\$" "$FAKE_ROOT/manifests.yaml" || { echo "no $1 in the manifests"; exit 64; }; }
[ "$1" = --namespace ] && [ "$2" != monitoring ] && exit 64
case "$*" in
  "--namespace monitoring exec --stdin deployment/beaconchain-exporter -- "*) cd "$FAKE_ROOT${STATE}" ;;
  "--namespace monitoring exec --stdin prometheus-k8s-0 --container prometheus -- "*) cd "$FAKE_ROOT/prometheus" ;;
  "--namespace monitoring patch deployment/beaconchain-exporter --type=json --patch="*)
    "\${REAL_KUBECTL:-true}" patch --local --filename "$FAKE_ROOT/home/beaconchain-exporter/deploy/kubernetes/exporter/deployment.yaml" --type=json "$6" -o name
    there beaconchain-exporter; exit ;;
  "apply -k "*) "$REAL_KUBECTL" kustomize "$3" > /dev/null; exit ;;
  *"create secret generic "*)
    all="$*"
    name=\${all#*create secret generic } key=\${all#*--from-literal=}
    grep -Eq "(secretName|name): \${name%% *}\\b" "$FAKE_ROOT/manifests.yaml"
    grep -Eq "(/|key: )\${key%%=*}\\b" "$FAKE_ROOT/manifests.yaml"
    exit 0 ;;
  *"rollout "*|"port-forward "*) for word in "$@"; do [[ $word != */* ]] || there "\${word#*/}"; done; exit 0 ;;
  *) echo "kubectl $*: no stand-in"; exit 64 ;;
esac
while [ "$1" != -- ]; do shift; done
shift
exec inside "$@"`;

/** What a backfill wrote is complete, and is where Prometheus has its data. Blocks of years take half a minute. */
const PROMTOOL = `
[ "$1 $2 $3" = 'tsdb create-blocks-from openmetrics' ] || exec "$REAL_PROMTOOL" "$@"
file=\${@: -2:1} data=\${!#}
[ -d "$data/wal" ] && [ "$(tail -n 1 "$file")" = '# EOF' ]`;

const NPM = `
case "$*" in
  'start'*|'run demo'*) exec serving "$REAL_NPM" "$@" ;;
  *) exec "$REAL_NPM" "$@" ;;
esac`;

/** Programs that run what they are told to run, in the folder and not on the machine. */
export const STAND_INS: Readonly<Record<string, string>> = {
  inside: INSIDE,
  serving: SERVING,
  sudo: SUDO,
  'systemd-run': SYSTEMD_RUN,
  install: INSTALL,
  systemctl: SYSTEMCTL,
  journalctl: JOURNALCTL,
  docker: DOCKER,
  kubectl: KUBECTL,
  npm: NPM,
  promtool: `exec inside promtool-real "$@"`,
  'promtool-real': PROMTOOL,
};

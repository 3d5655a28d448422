#!/bin/sh
# Restarts HAProxy with "maxconn" $1 for its servers: so many requests at once reach each of them. Its configuration says
# `server s 127.0.0.1:8081 maxconn "${WORKERS}"`. Replace this by what sets the number of workers of your own server. It must
# end with 0 only when the setting is in effect: here, when the old process is gone.
set -e
: "${HAPROXY_PID:?say in which file its process id is}" "${HAPROXY_CFG:?say where its configuration is}"
old=$(cat "$HAPROXY_PID" 2>/dev/null || true)
if [ -n "$old" ]; then
  kill "$old" 2>/dev/null || true
  while grep -qs '^State:.[^Z]' "/proc/$old/status"; do sleep 0.02; done
fi
WORKERS=$1 haproxy -D -q -p "$HAPROXY_PID" -f "$HAPROXY_CFG"

# Use with `. deployment.sh`. Starts a server with an empty folder, and sets `deployment` to its
# connection string. The server is the mongod that MONGOD names, or else a store that gridstore
# serves. To end the server: kill $server
mkdir deployment
if [ -n "${MONGOD:-}" ]; then
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  "$MONGOD" --dbpath deployment --bind_ip 127.0.0.1 --port "$port" --nounixsocket \
    --wiredTigerCacheSizeGB 0.25 >deployment.log 2>&1 &
  server=$!
  deployment="mongodb://127.0.0.1:$port"
else
  gridstore serve --create deployment >deployment.log 2>&1 &
  server=$!
  deployment="mongodb://$(python3 -c 'import os, urllib.parse; print(urllib.parse.quote(os.path.abspath("deployment/gridmount.sock"), safe=""))')"
fi
# gridstore waits for a server that does not answer yet, but fails if there is no socket yet. So
# this loop repeats the command.
until gridstore stats --server-timeout 2 "$deployment" >/dev/null 2>&1; do
  kill -0 "$server" || break
  sleep 0.1
done

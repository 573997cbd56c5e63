import type { NodePorts } from './database-node.ts';

export function haproxyOfDatabase(port: number, nodes: readonly NodePorts[]): string {
  const servers = nodes.map(({ postgres, rest }, index) => {
    return `  server node${index + 1} 127.0.0.1:${postgres} check port ${rest}`;
  });
  return `
defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
  timeout check 2s
listen primary
  bind 127.0.0.1:${port}
  option httpchk GET /primary
  http-check expect status 200
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
${servers.join('\n')}
`;
}

export function haproxyOfApis(port: number, apiPorts: readonly number[]): string {
  const servers = apiPorts.map((apiPort, index) => `  server api${index + 1} 127.0.0.1:${apiPort} check`);
  return `
defaults
  mode http
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  timeout check 2s
  option redispatch
  retries 3
  retry-on conn-failure
listen api
  bind 127.0.0.1:${port}
  balance leastconn
  option httpchk GET /readyz
  default-server inter 500ms fall 1 rise 1
${servers.join('\n')}
`;
}

export function pgbouncer(port: number, databasePort: number): string {
  return `
[databases]
* = host=127.0.0.1 port=${databasePort} user=roomservice
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 30
max_client_conn = 500
server_login_retry = 1
server_connect_timeout = 3
`;
}

import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Subject } from './subject.ts';
import { forwarding } from './upstream-subject.ts';
import { freePort, untilReady, type Workbench } from './workbench.ts';

/**
 * How nginx passes requests on: by its defaults, with a new connection for each, or with
 * connections that it keeps. Answers are never buffered, so that events go out as they come.
 */
const MANNERS = {
  plain: { server: (address: string) => address, directives: '', upstream: () => '' },
  keeping: {
    server: () => 'bench',
    directives: 'proxy_http_version 1.1; proxy_set_header Connection "";',
    upstream: (address: string) =>
      `upstream bench { server ${address}; keepalive 1024; keepalive_requests 100000000; }`,
  },
} as const;

export type NginxManner = keyof typeof MANNERS;

/** Starts nginx as a reverse proxy, where it is found in the PATH or named by BENCH_NGINX. */
export async function startNginx(
  workbench: Workbench,
  upstreamPort: number,
  manner: NginxManner,
): Promise<Subject | undefined> {
  const program = process.env.BENCH_NGINX ?? 'nginx';
  const version = spawnSync(program, ['-v'], { encoding: 'utf8' });
  if (version.status !== 0) {
    const where = process.env.BENCH_NGINX === undefined ? 'in the PATH or in BENCH_NGINX' : `at ${program}`;
    console.error(`bench: no nginx ${where}; the comparisons with it are left out`);
    return undefined;
  }
  const folder = join(workbench.folder, `nginx-${manner}`);
  mkdirSync(folder);
  const port = await freePort();
  const config = workbench.write(`nginx-${manner}.conf`, configuration(folder, port, upstreamPort, manner));
  const started = workbench.start(
    `nginx-${manner}`,
    [program, '-p', folder, '-e', 'error.log', '-c', config],
    {
      place: 'tested',
    },
  );
  await untilReady('nginx', started, `http://127.0.0.1:${port}/ready`);
  return forwarding(/nginx\/[\d.]+/.exec(version.stderr)?.[0] ?? 'nginx', started, port);
}

/** One process, which is then the one whose time is counted. Bodies stay in memory. */
function configuration(folder: string, port: number, upstreamPort: number, manner: NginxManner): string {
  const { server, directives, upstream } = MANNERS[manner];
  const address = `127.0.0.1:${upstreamPort}`;
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `daemon off;
master_process off;
worker_processes 1;
pid "${folder}/nginx.pid";
events { worker_connections 16384; }
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path "${folder}/${name}";`).join('\n  ')}
  keepalive_requests 100000000;
  client_body_buffer_size 512k;
  ${upstream(address)}
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location = /ready { return 204; }
    location / {
      proxy_pass http://${server(address)};
      proxy_buffering off;
      ${directives}
    }
  }
}
`;
}

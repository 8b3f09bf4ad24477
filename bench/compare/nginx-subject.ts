import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Subject } from './subject.ts';
import { forwarding } from './upstream-subject.ts';
import { freePort, untilReady, type Workbench } from './workbench.ts';

/** Starts nginx as a plain reverse proxy, where it is found in the PATH or named by NGINX. */
export async function startNginx(workbench: Workbench, upstreamPort: number): Promise<Subject | undefined> {
  const program = process.env.NGINX ?? 'nginx';
  const version = spawnSync(program, ['-v'], { encoding: 'utf8' });
  if (version.status !== 0) {
    console.error('bench: no nginx in the PATH or in NGINX; the comparisons with it are left out');
    return undefined;
  }
  const folder = join(workbench.folder, 'nginx');
  mkdirSync(folder);
  const port = await freePort();
  const config = workbench.write('nginx.conf', configuration(folder, port, upstreamPort));
  const started = workbench.start('nginx', [program, '-p', folder, '-e', 'error.log', '-c', config], {
    place: 'tested',
  });
  await untilReady('nginx', started, `http://127.0.0.1:${port}/ready`);
  return forwarding(/nginx\/[\d.]+/.exec(version.stderr)?.[0] ?? 'nginx', started, port);
}

/**
 * One process, which is then the one whose time is counted. Answers are not buffered, so that events go out as they come;
 * bodies stay in memory.
 */
function configuration(folder: string, port: number, upstreamPort: number): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `daemon off;
master_process off;
worker_processes 1;
pid ${folder}/nginx.pid;
events { worker_connections 16384; }
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  keepalive_requests 100000000;
  client_body_buffer_size 512k;
  upstream bench {
    server 127.0.0.1:${upstreamPort};
    keepalive 1024;
    keepalive_requests 100000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location = /ready { return 204; }
    location / {
      proxy_pass http://bench;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
`;
}

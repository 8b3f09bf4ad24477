import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseCommandLine } from '../../../src/cli/command-line.ts';
import { MAX_FILE_BYTES } from '../../../src/manage/files/file-intake.ts';

const root = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));
const textOf = (path: string) => readFileSync(join(root, path), 'utf8');

/** Seconds that a stop may take with the defaults: `drain_grace_ms`, `drain_ms`, and ten until it ends by force. */
const STOP_SECONDS = 2 + 30 + 10;

/** Instructions of the Dockerfile, with continued lines joined. */
const instructions = textOf('deploy/Dockerfile')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));

describe('the Dockerfile', () => {
  it('has only known instructions, and ends as a user without rights', () => {
    const known =
      /^(?:ARG|FROM|WORKDIR|COPY|RUN|ENV|USER|VOLUME|EXPOSE|STOPSIGNAL|HEALTHCHECK|ENTRYPOINT|CMD) /;
    expect(instructions.filter((line) => !known.test(line))).toEqual([]);
    expect(instructions.filter((line) => line.startsWith('USER '))).toEqual(['USER node']);
    expect(instructions).toContain('COPY deploy/health-check.mjs ./');
    expect(instructions.find((line) => line.startsWith('HEALTHCHECK '))).toContain('"/app/health-check.mjs"');
    expect(instructions.filter((line) => line.startsWith('FROM '))).toHaveLength(2);
  });

  it('copies what exists, installs from the lockfile, and runs the program', () => {
    const { bin, scripts } = JSON.parse(textOf('package.json'));
    expect(instructions.join('\n')).toContain(`/app/${bin.signalbox} `);
    expect(instructions).toContain('RUN npm run build');
    expect(scripts.build).toBeDefined();
    const admitted = [...textOf('deploy/Dockerfile.dockerignore').matchAll(/^!(.+)$/gm)].map(
      ([, name]) => name,
    );
    expect(admitted.filter((name) => !existsSync(join(root, name as string)))).toEqual([]);
    expect(admitted).not.toContain('node_modules');
    const built = [...textOf('scripts/toolchain.mjs').matchAll(/filesUnder\('(\w+)/g)].map(
      ([, name]) => name,
    );
    expect(built).toEqual(expect.arrayContaining(['src', 'console']));
    expect(built.filter((name) => !admitted.includes(name))).toEqual([]);
  });
});

describe.each(['deploy/compose.yaml', 'deploy/compose.postgresql.yaml'])('%s', (file) => {
  const { services } = parse(textOf(file));

  it('runs the gateway without rights, on the loopback interface, with time to drain', () => {
    expect(services.signalbox).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      ports: ['127.0.0.1:8787:8787'],
      volumes: ['data:/data'],
    });
    expect(Number.parseInt(services.signalbox.stop_grace_period, 10)).toBeGreaterThan(STOP_SECONDS);
  });

  it('has no password of its own', () => {
    const secrets = [...textOf(file).matchAll(/(?:PASSWORD|_KEY): (.+)/g)].map(([, value]) => value);
    expect(secrets.filter((value) => !/^\$\{\w+:\?/.test(value as string))).toEqual([]);
  });
});

describe('the other files', () => {
  it('start commands that exist, and give them time to drain', () => {
    const unit = textOf('deploy/signalbox.service');
    const [, words = ''] = /^ExecStart=\S+ \S+signalbox\.js (.+)$/m.exec(unit) ?? [];
    expect(parseCommandLine(words.split(' '))).toMatchObject({ kind: 'run', command: 'serve' });
    const [, stopSeconds] = /^TimeoutStopSec=(\d+)s$/m.exec(unit) ?? [];
    expect(Number(stopSeconds)).toBeGreaterThan(STOP_SECONDS);
    for (const line of ['NoNewPrivileges=yes', 'ProtectSystem=strict', 'CapabilityBoundingSet=']) {
      expect(unit.split('\n')).toContain(line);
    }
  });

  it('pass streams on unbuffered, and longer than a request may take', () => {
    const nginx = textOf('deploy/nginx.conf');
    expect(nginx).toMatch(/proxy_buffering off;/);
    expect(nginx).toContain('location ~ ^/(metrics|readyz|healthz)/?$ {');
    expect(nginx).toMatch(/proxy_read_timeout 660s;/);
    expect(nginx.split('{').length).toBe(nginx.split('}').length);
    const caddy = textOf('deploy/Caddyfile');
    for (const path of ['metrics', 'readyz', 'healthz']) expect(caddy).toContain(`/${path} /${path}/`);
    expect(caddy).toMatch(/flush_interval -1/);
    expect(caddy.split('{').length).toBe(caddy.split('}').length);
  });

  it.each([
    ['deploy/nginx.conf', /client_max_body_size (\d+)m;/],
    ['deploy/Caddyfile', /max_size (\d+)MiB/],
  ])('%s lets the largest file through', (path, pattern) => {
    const [, mebibytes] = pattern.exec(textOf(path)) ?? [];
    expect(Number(mebibytes) * 2 ** 20).toBeGreaterThan(MAX_FILE_BYTES);
  });

  it('are described with commands and flags that exist', () => {
    const lines = [
      ...textOf('docs/guide/deploy.md').matchAll(/^(?:sudo -u signalbox )?signalbox ([^`\n]+)$/gm),
    ];
    expect(lines.length).toBeGreaterThan(5);
    const wrong = lines
      .map(([, words = '']) => words.replace(/\s+#.*$/, ''))
      .filter((words) => parseCommandLine(words.split(/\s+/)).kind !== 'run');
    expect(wrong).toEqual([]);
  });
});

describe('the files of forges', () => {
  const workflows = ['check', 'release'].map((name) => parse(textOf(`.github/workflows/${name}.yml`)));
  const jobs: readonly (readonly [string, any])[] = workflows.flatMap(({ jobs }) => Object.entries(jobs));
  const gitlab: readonly (readonly [string, any])[] = Object.entries<any>(
    parse(textOf('.gitlab-ci.yml')),
  ).filter(([, job]) => job.script !== undefined);
  const scripts: readonly string[] = [
    ...jobs.flatMap(([, job]) => job.steps.flatMap(({ run }: { run?: string }) => run ?? [])),
    ...gitlab.flatMap(([, job]) => job.script),
  ];

  it('have scripts that a shell takes, and that name what the repository has', () => {
    expect(scripts.length).toBeGreaterThan(15);
    const { scripts: commands } = JSON.parse(textOf('package.json'));
    for (const script of scripts) {
      // What the forge fills in before a shell sees it.
      const filled = script.replaceAll(/\$\{\{[^}]*\}\}/g, 'filled');
      const { status, stderr } = spawnSync('bash', ['-n', '-c', filled], { encoding: 'utf8' });
      expect([script, status, stderr]).toEqual([script, 0, '']);
      for (const [, name = ''] of script.matchAll(/npm run (?:--silent )?([\w:]+)/g))
        expect(commands).toHaveProperty([name]);
      for (const [name] of script.matchAll(/(?:scripts|deploy)\/[\w.-]+|\.ci\/run/g))
        expect([name, existsSync(join(root, name))]).toEqual([name, true]);
    }
  });

  it('publish after the check of the tag only', () => {
    const { jobs: release } = workflows[1];
    expect(workflows[1].on).toEqual({ push: { tags: ['v*'] } });
    expect([release.package.needs, release.image.needs]).toEqual(['check', 'check']);
    const { stages, check, package: published, image } = parse(textOf('.gitlab-ci.yml'));
    expect([check.stage, published.stage, image.stage]).toEqual([stages[0], stages[1], stages[1]]);
    const tag = `v${JSON.parse(textOf('package.json')).version}`;
    const judged = (name: string) =>
      spawnSync(process.execPath, ['scripts/release-version.mjs', name], { cwd: root, encoding: 'utf8' });
    expect(judged(tag).status).toBe(0);
    expect(judged('v99.0.0')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('the tag is v99.0.0'),
    });
  });
});

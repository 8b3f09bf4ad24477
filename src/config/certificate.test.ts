import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { temporaryDirectory } from '../../test/adapters/contracts/temporary-directory.ts';
import { EXPIRED, SELF_SIGNED } from '../../test/kit/fakes/raw-server.ts';
import { expiryWarnings, readCertificate, tlsFilesIn, watchCertificate } from './certificate.ts';

let temporary: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  temporary = temporaryDirectory();
});
afterEach(() => temporary.remove());

function reading(cert: string | undefined, key: string | undefined) {
  const files = tlsFilesIn(temporary.path, { cert: 'cert.pem', key: 'key.pem' });
  if (cert !== undefined) writeFileSync(files.cert, cert);
  if (key !== undefined) writeFileSync(files.key, key);
  return readCertificate(files);
}

describe('readCertificate', () => {
  it('reads a certificate and its key', () => {
    const read = reading(SELF_SIGNED.cert, SELF_SIGNED.key);
    expect(read).toMatchObject({ ok: true, certificate: SELF_SIGNED });
    if (read.ok) expect(expiryWarnings(read.certificate, Date.UTC(2026, 0, 1))).toEqual([]);
  });

  it('names each file that does not exist', () => {
    const problems = [
      { path: 'server.tls.cert', message: `the file ${join(temporary.path, 'cert.pem')} does not exist` },
      { path: 'server.tls.key', message: `the file ${join(temporary.path, 'key.pem')} does not exist` },
    ];
    expect(reading(undefined, undefined)).toEqual({ ok: false, problems });
  });

  it('refuses files that hold something else, without repeating them', () => {
    const read = reading('no certificate', 'a-secret-that-is-no-key');
    expect(read).toMatchObject({
      ok: false,
      problems: [
        { path: 'server.tls.cert', message: expect.stringContaining('BEGIN CERTIFICATE') },
        { path: 'server.tls.key', message: expect.stringContaining('without a passphrase') },
      ],
    });
    expect(JSON.stringify(read)).not.toContain('a-secret');
  });

  it('refuses the key of another certificate', () => {
    expect(reading(SELF_SIGNED.cert, EXPIRED.key)).toMatchObject({
      ok: false,
      problems: [{ path: 'server.tls.key', message: expect.stringContaining('not the key') }],
    });
  });

  it('takes one that has ended, with a warning', () => {
    const read = reading(EXPIRED.cert, EXPIRED.key);
    expect(read.ok).toBe(true);
    if (read.ok) {
      expect(expiryWarnings(read.certificate, Date.UTC(2026, 0, 1))).toEqual([
        { path: 'server.tls.cert', message: expect.stringContaining('ended at 2020-02-01T00:00:00.000Z') },
      ]);
    }
  });
});

it('warns with a tenth of the validity left, at most 14 days', () => {
  const read = reading(EXPIRED.cert, EXPIRED.key);
  if (!read.ok) return expect.unreachable();
  // 31 days: from 2020-01-01 to 2020-02-01.
  expect(expiryWarnings(read.certificate, Date.UTC(2020, 0, 28))).toEqual([]);
  expect(expiryWarnings(read.certificate, Date.UTC(2020, 0, 30))).toEqual([
    {
      path: 'server.tls.cert',
      message: 'ends at 2020-02-01T00:00:00.000Z; renew the file before that',
    },
  ]);
});

it('logs once that the certificate in use ends soon, and once that it has ended', () => {
  vi.useFakeTimers();
  try {
    const files = tlsFilesIn(temporary.path, { cert: 'cert.pem', key: 'key.pem' });
    const lines: unknown[] = [];
    const log = { info() {}, warn: (message: string, fields?: object) => lines.push({ message, ...fields }) };
    const inUse = { cert: '', key: '', endsAtMs: Date.now() + 60_000, overdueFromMs: Date.now() + 40_000 };
    const watch = watchCertificate(files, inUse, () => {}, log);
    vi.advanceTimersByTime(30_000);
    expect(lines).toEqual([]);
    vi.advanceTimersByTime(80_000);
    expect(lines).toEqual([
      {
        message: 'the certificate ends soon. Renew the file',
        file: files.cert,
        ends: new Date(inUse.endsAtMs).toISOString(),
      },
      {
        message: 'the certificate has ended; callers refuse it. Renew the file',
        file: files.cert,
        ended: new Date(inUse.endsAtMs).toISOString(),
      },
    ]);
    watch.close();
  } finally {
    vi.useRealTimers();
  }
});

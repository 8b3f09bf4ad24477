import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Issue } from '../kit/json/validate.ts';
import type { Log } from '../kit/log/log.ts';
import { fileVersion } from './file-version.ts';
import type { Config } from './schema/schema.ts';

/** The certificate chain and the private key that the server shows to its callers, as PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
  /** End of its validity, epoch milliseconds. */
  readonly endsAtMs: number;
  /** From here on its renewal is overdue, epoch milliseconds. */
  readonly overdueFromMs: number;
}

/** Programs that renew do so with a third of the validity left: with a tenth left, renewing has failed. */
const OVERDUE_SHARE = 0.1;
const MAX_OVERDUE_MS = 14 * 24 * 60 * 60 * 1000;

export type TlsFiles = NonNullable<Config['server']['tls']>;

type Member = keyof TlsFiles;

/** A certificate, or why its files cannot be used. Paths begin at the root of the configuration. */
export type CertificateReading =
  | { readonly ok: true; readonly certificate: Certificate }
  | { readonly ok: false; readonly problems: readonly Issue[] };

/** The files with absolute paths. `folder`: that of the configuration file, at which relative paths begin. */
export function tlsFilesIn(folder: string, { cert, key }: TlsFiles): TlsFiles {
  return { cert: resolve(folder, cert), key: resolve(folder, key) };
}

/** Reads both files and checks that they belong together. `files`: with absolute paths. */
export function readCertificate(files: TlsFiles): CertificateReading {
  const problems: Issue[] = [];
  const cert = readMember('cert', files, problems);
  const key = readMember('key', files, problems);
  const parsedCert = cert && parseMember('cert', () => new X509Certificate(cert), problems);
  const parsedKey = key && parseMember('key', () => createPrivateKey(key), problems);
  if (!cert || !key || !parsedCert || !parsedKey) return { ok: false, problems };
  if (!parsedCert.checkPrivateKey(parsedKey)) {
    return { ok: false, problems: [problemOf('key', `is not the key of the certificate in ${files.cert}`)] };
  }
  const [beginsAtMs, endsAtMs] = [Date.parse(parsedCert.validFrom), Date.parse(parsedCert.validTo)];
  const overdueFromMs = endsAtMs - Math.min(MAX_OVERDUE_MS, OVERDUE_SHARE * (endsAtMs - beginsAtMs));
  return { ok: true, certificate: { cert, key, endsAtMs, overdueFromMs } };
}

/** A warning if callers refuse the certificate, because it has ended, or soon will. */
export function expiryWarnings({ endsAtMs, overdueFromMs }: Certificate, nowMs: number): Issue[] {
  const end = new Date(endsAtMs).toISOString();
  if (nowMs >= endsAtMs) {
    return [problemOf('cert', `ended at ${end}: callers will refuse it; renew the file`)];
  }
  return nowMs < overdueFromMs ? [] : [problemOf('cert', `ends at ${end}; renew the file before that`)];
}

function readMember(member: Member, files: TlsFiles, problems: Issue[]): string | undefined {
  try {
    return readFileSync(files[member], 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    const reason =
      code === 'ENOENT'
        ? `the file ${files[member]} does not exist`
        : `the file ${files[member]} cannot be read (${code}); let the user that runs signalbox read it`;
    problems.push(problemOf(member, reason));
    return undefined;
  }
}

const EXPECTED: Readonly<Record<Member, string>> = {
  cert: 'does not begin with a certificate in PEM form (-----BEGIN CERTIFICATE-----)',
  key: 'is not a private key in PEM form without a passphrase (-----BEGIN PRIVATE KEY-----)',
};

/** Replaces OpenSSL's messages, which could repeat parts of a key. */
function parseMember<T>(member: Member, parse: () => T, problems: Issue[]): T | undefined {
  try {
    return parse();
  } catch {
    problems.push(problemOf(member, EXPECTED[member]));
    return undefined;
  }
}

function problemOf(member: Member, message: string): Issue {
  return { path: `server.tls.${member}`, message };
}

/** Polling interval. Certificates are renewed in the background by other programs, days before they end. */
const POLL_MS = 2_000;

/**
 * Reads the files again when they change, for example after a renewal. Files that cannot be used, or of which only one
 * was replaced by now, change nothing: the certificate in use stays. Logs once that its renewal is overdue, and once
 * that it has ended, unless the start has logged that.
 */
export function watchCertificate(
  files: TlsFiles,
  inUse: Certificate,
  renew: (certificate: Certificate) => void,
  log: Pick<Log, 'info' | 'warn'>,
): { close(): void } {
  let seen = versionsOf(files);
  let { endsAtMs, overdueFromMs } = inUse;
  /** Until when everything is logged. */
  let loggedUntilMs = Date.now();
  const logExpiry = () => {
    const isNew = (atMs: number) => loggedUntilMs < atMs && atMs <= Date.now();
    const end = new Date(endsAtMs).toISOString();
    if (isNew(endsAtMs)) {
      log.warn('the certificate has ended; callers refuse it. Renew the file', {
        file: files.cert,
        ended: end,
      });
    } else if (isNew(overdueFromMs)) {
      log.warn('the certificate ends soon. Renew the file', { file: files.cert, ends: end });
    }
    loggedUntilMs = Date.now();
  };
  const polling = setInterval(() => {
    logExpiry();
    const now = versionsOf(files);
    if (now === seen) return;
    seen = now;
    const reading = readCertificate(files);
    if (reading.ok) {
      renew(reading.certificate);
      ({ endsAtMs, overdueFromMs } = reading.certificate);
      // What is true of the new one already is logged too.
      loggedUntilMs = 0;
      const ends = new Date(endsAtMs).toISOString();
      log.info('the certificate was read again', { file: files.cert, ends });
    } else {
      for (const { path, message } of reading.problems) {
        log.warn('the changed certificate cannot be used; the one in use stays', { path, reason: message });
      }
    }
  }, POLL_MS).unref();
  return { close: () => clearInterval(polling) };
}

function versionsOf({ cert, key }: TlsFiles): string {
  try {
    return `${fileVersion(cert)} ${fileVersion(key)}`;
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}

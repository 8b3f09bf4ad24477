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
}

/** `server.tls` of the configuration. */
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
  return { ok: true, certificate: { cert, key, endsAtMs: Date.parse(parsedCert.validTo) } };
}

/** A warning if the certificate is no longer valid: callers refuse to connect. */
export function expiryWarnings({ endsAtMs }: Certificate, nowMs: number): Issue[] {
  if (nowMs < endsAtMs) return [];
  return [
    problemOf('cert', `ended at ${new Date(endsAtMs).toISOString()}: callers will refuse it; renew the file`),
  ];
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
 * was replaced by now, change nothing: the certificate in use stays. Logs its end; a start logs one that has ended.
 */
export function watchCertificate(
  files: TlsFiles,
  inUse: Certificate,
  renew: (certificate: Certificate) => void,
  log: Pick<Log, 'info' | 'warn'>,
): { close(): void } {
  let seen = versionsOf(files);
  let endsAtMs = inUse.endsAtMs;
  let isExpiryLogged = endsAtMs <= Date.now();
  const polling = setInterval(() => {
    if (!isExpiryLogged && endsAtMs <= Date.now()) {
      isExpiryLogged = true;
      log.warn('the certificate has ended; callers refuse it. Renew the file', {
        file: files.cert,
        ended: new Date(endsAtMs).toISOString(),
      });
    }
    const now = versionsOf(files);
    if (now === seen) return;
    seen = now;
    const reading = readCertificate(files);
    if (reading.ok) {
      renew(reading.certificate);
      endsAtMs = reading.certificate.endsAtMs;
      isExpiryLogged = false;
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

import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket, type TlsOptions } from 'node:tls';

/** One request as it came: its head and its body. */
export interface RawRequest {
  readonly head: string;
  readonly body: string;
  /** Which connection it came over, counted from 0. */
  readonly connection: number;
}

/** What a server does about the n-th request, counted from 0. */
export type RawAnswer = (socket: Socket, index: number) => void | Promise<void>;

/** A server below HTTP: answers are bytes, with all the mistakes that one can make. */
export interface RawServer {
  readonly port: number;
  readonly requests: RawRequest[];
  /** Those that are open or were, oldest first. */
  readonly sockets: Socket[];
  close(): Promise<void>;
}

/** Opens one on this machine. `tls`: with a certificate. */
export async function openRawServer(answer: RawAnswer, tls?: TlsOptions): Promise<RawServer> {
  const requests: RawRequest[] = [];
  const sockets: Socket[] = [];
  const take = (socket: Socket | TLSSocket): void => {
    const connection = sockets.push(socket) - 1;
    let text = '';
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
      for (let end = endOf(text); end !== undefined; end = endOf(text)) {
        const [head = '', body = ''] = text.slice(0, end).split('\r\n\r\n');
        text = text.slice(end);
        void answer(socket, requests.push({ head, body, connection }) - 1);
      }
    });
  };
  const server: Server = tls === undefined ? createTcpServer(take) : createTlsServer(tls, take);
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    sockets,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Where the first request in a text ends; undefined when it is not whole. */
function endOf(text: string): number | undefined {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd === -1) return undefined;
  const announced = /content-length: (\d+)/i.exec(text.slice(0, headEnd));
  const end = headEnd + 4 + Number(announced?.[1] ?? 0);
  return text.length < end ? undefined : end;
}

/** A certificate for `localhost` and 127.0.0.1 that is self-signed. */
export const SELF_SIGNED = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBZjCCAQ2gAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABHrRTgvhBDdT1eFI
ol5QMrkMyrP8RyQ7mRmTjPU9veAQAYmdwLiU5KkEWw1uHwyewr4n5XZYbWnV8ZCm
BtrJ236jTjBMMBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcEfwAAATAPBgNVHRMBAf8E
BTADAQH/MB0GA1UdDgQWBBRLRYuYX7g+qI93KE3dMPNt8otvOzAKBggqhkjOPQQD
AgNHADBEAiA5PANsauPUyo+xfxFDjgTeFChAfjiiQB7wrf9GsNG2mwIgYITb8axN
vmEyU9B7WL3RLeBssMXQ6GvtUc/QWLVRVwQ=
-----END CERTIFICATE-----`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgte8Lr5yfm5+wOAs0
HwPveg5BnnljnYeNgvT+CLehsi2hRANCAAR60U4L4QQ3U9XhSKJeUDK5DMqz/Eck
O5kZk4z1Pb3gEAGJncC4lOSpBFsNbh8MnsK+J+V2WG1p1fGQpgbaydt+
-----END PRIVATE KEY-----`,
};

/** One for the same names that ended in February 2020. */
export const EXPIRED = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBZTCCAQugAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
c3QwHhcNMjAwMTAxMDAwMDAwWhcNMjAwMjAxMDAwMDAwWjAUMRIwEAYDVQQDDAls
b2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARwyTKy7UHhac7Y7AWo
gCLZe8+i3CU1OhyiaIQwNTnTxAsj15vQVKASMDiv2pmIdo1ZGcXhAePRG19cuFhA
SODQo04wTDAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwDwYDVR0TAQH/BAUw
AwEB/zAdBgNVHQ4EFgQU8qRcZ1NHqH0o+LDxk71V47ijQxUwCgYIKoZIzj0EAwID
SAAwRQIgc/rduDue9y/UJlC/Gvv6VyEgTb3ZM0mFIdhbmvCOCAICIQDhHyayGx5J
lo49Grkhk8nVUz6eAgxaU0hR2cag79FW3Q==
-----END CERTIFICATE-----`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgh5RFDgyuuQk6gqA2
O4nwdoPwdoAeX0T2JdH2kdPiu3uhRANCAARwyTKy7UHhac7Y7AWogCLZe8+i3CU1
OhyiaIQwNTnTxAsj15vQVKASMDiv2pmIdo1ZGcXhAePRG19cuFhASODQ
-----END PRIVATE KEY-----`,
};

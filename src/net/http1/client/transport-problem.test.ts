import { describe, expect, it } from 'vitest';
import { socketProblem } from './transport-problem.ts';

function problem(code: string, connected = false) {
  const error = Object.assign(new Error(`connect ${code} 10.1.2.3:443 llm.internal`), { code });
  return socketProblem(error, connected);
}

describe('socketProblem', () => {
  it.each([
    ['ECONNREFUSED', 'connect', 'connection refused'],
    ['ENOTFOUND', 'connect', 'host name not found'],
    ['EAI_AGAIN', 'connect', 'host name not found'],
    ['ENETUNREACH', 'connect', 'network unreachable'],
    ['ETIMEDOUT', 'timeout', 'no connection within the time limit'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'connect', 'certificate not trusted'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'connect', 'certificate not trusted'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'connect', 'certificate not trusted'],
    ['CERT_HAS_EXPIRED', 'connect', 'certificate expired'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'connect', 'certificate not trusted'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'connect', 'TLS handshake failed'],
    ['SOMETHING_NEW', 'connect', 'connection failed'],
  ])('%s', (code, reason, message) => {
    const found = problem(code);
    expect([found.reason, found.message]).toEqual([reason, message]);
    expect(found.cause).toBeUndefined();
  });

  it('distinguishes a lost connection from one that was never made', () => {
    expect(problem('ECONNRESET', false).reason).toBe('connect');
    for (const code of ['ECONNRESET', 'ETIMEDOUT', 'EHOSTUNREACH', 'ERR_SSL_DECRYPTION_FAILED']) {
      expect(problem(code, true)).toMatchObject({
        reason: 'reset',
        message: 'connection closed before the answer ended',
        systemCode: code,
      });
    }
  });
});

import { deletedSchema } from '../../contract/envelopes/deleted.ts';
import { errorEnvelopeSchema } from '../../contract/envelopes/error-envelope.ts';
import { currentKeyObject } from '../../contract/keys/current-key.ts';
import {
  sessionListSchema,
  sessionObject,
  sessionReplySchema,
  signedInSchema,
} from '../../contract/sessions/session.ts';
import { encodeEnvelope } from '../../dialects/shared/answers/error-envelope.ts';
import { GatewayError } from '../../ir/errors.ts';
import { clientAddressOf } from '../../kit/net/client-address.ts';
import { noSessionCookie, sessionCookie, sessionTokenOf } from '../access/session-cookie.ts';
import { type Call, type Route, route } from '../route.ts';
import { created, errors, NOTHING_DECLARED, ok } from './row-parts.ts';

const SESSIONS = {
  mount: 'api',
  tag: 'Sessions',
  rateClass: 'management',
  encodeError: encodeEnvelope,
} as const;

/** The id by which a request names its own session. */
const CURRENT = 'current';

/** Sign-ins to the console. */
export const SESSION_ROUTES: readonly Route[] = [
  route({
    ...SESSIONS,
    isSignIn: true,
    method: 'POST',
    path: '/sessions',
    operationId: 'createSession',
    summary:
      'Sign in: exchange the key of this request for a cookie; the 51st session of a key ends its oldest',
    permission: 'sessions.open',
    request: NOTHING_DECLARED,
    responses: { 201: created(sessionReplySchema), ...errors(errorEnvelopeSchema, [401, 403, 429, 500]) },
    responseHeaders: { 'Set-Cookie': 'The cookie of the session: `HttpOnly`, `SameSite=Strict`.' },
    handler: async (call) => {
      const { request, reply } = call.exchange;
      if (
        sessionTokenOf(request, call.services) !== undefined &&
        request.header('authorization') === undefined
      ) {
        throw new GatewayError('permission', 'Sign in with a key: a session cannot open another');
      }
      const { session, token } = await call.services.sessions.open(call.caller, {
        userAgent: request.header('user-agent'),
        address: clientAddressOf(
          request.peerAddress,
          request.headerValues('x-forwarded-for'),
          call.settings.trustedProxies,
        ),
      });
      const { expiresAtMs } = session;
      reply.json(
        201,
        { data: sessionObject(session, session.id) },
        { 'Set-Cookie': sessionCookie(request, call.services, { token, expiresAtMs }) },
      );
    },
  }),
  route({
    ...SESSIONS,
    method: 'GET',
    path: '/sessions',
    operationId: 'listSessions',
    summary:
      'Sessions of the account for a management key, else those of the key; the newest 500, newest first',
    permission: 'sessions.read',
    request: NOTHING_DECLARED,
    responses: { 200: ok(sessionListSchema), ...errors(errorEnvelopeSchema, [401, 500]) },
    handler: async (call) => {
      const currentId = await currentIdOf(call);
      const sessions = await call.services.sessions.list(call.caller);
      call.exchange.reply.json(200, { data: sessions.map((session) => sessionObject(session, currentId)) });
    },
  }),
  route({
    ...SESSIONS,
    method: 'GET',
    path: '/sessions/current',
    operationId: 'getSignedInKey',
    summary: 'Who is signed in: answers 200 to everyone, so that a page can ask before it shows a sign-in',
    permission: 'own-session.read',
    request: NOTHING_DECLARED,
    responses: { 200: ok(signedInSchema), ...errors(errorEnvelopeSchema, [500, 503]) },
    handler: async (call) => {
      const { caller, services, exchange } = call;
      // A failed read of the session is an error here, and not a sign-out.
      if (caller === undefined) await currentIdOf(call);
      const statement = caller && (await services.keys.statementOf(caller.key));
      exchange.reply.json(200, { data: statement === undefined ? null : currentKeyObject(statement) });
    },
  }),
  route({
    ...SESSIONS,
    method: 'DELETE',
    path: '/sessions/{id}',
    operationId: 'endSession',
    summary: 'End a session; `current` names the one of this request',
    permission: 'sessions.end',
    request: NOTHING_DECLARED,
    responses: { 200: ok(deletedSchema), ...errors(errorEnvelopeSchema, [401, 404, 500]) },
    responseHeaders: { 'Set-Cookie': 'Removes the cookie, if the session is that of this request.' },
    handler: async (call) => {
      const { request, reply } = call.exchange;
      const currentId = await currentIdOf(call);
      const id = call.params.id === CURRENT ? (currentId ?? '') : call.params.id;
      await call.services.sessions.end(call.caller, id);
      reply.json(
        200,
        { deleted: true },
        id === currentId ? { 'Set-Cookie': noSessionCookie(request, call.services) } : {},
      );
    },
  }),
];

async function currentIdOf({
  exchange,
  services,
}: Pick<Call, 'exchange' | 'services'>): Promise<string | undefined> {
  const token = sessionTokenOf(exchange.request, services);
  return token === undefined ? undefined : (await services.sessions.find(token))?.session.id;
}

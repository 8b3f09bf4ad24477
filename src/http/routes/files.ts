import Type from 'typebox';
import { errorEnvelopeSchema } from '../../contract/envelopes/error-envelope.ts';
import type { ErrorStatus } from '../../contract/envelopes/error-meanings.ts';
import { fileObject, fileQuerySchema, fileSchema, uploadSchema } from '../../contract/workspaces/file.ts';
import { encodeEnvelope } from '../../dialects/shared/answers/error-envelope.ts';
import { GatewayError } from '../../ir/errors.ts';
import { fileTooLarge, MAX_FILE_BYTES } from '../../manage/files/file-intake.ts';
import { requireForm } from '../request/media-type.ts';
import { readUpload } from '../request/read-upload.ts';
import { type Route, route } from '../route.ts';
import { errors, ok } from './row-parts.ts';

const FILES = {
  mount: 'api',
  tag: 'Files',
  rateClass: 'files',
  encodeError: encodeEnvelope,
} as const;

const ONE_FILE = { query: fileQuerySchema, headers: null, body: null } as const;

function refusals(...others: readonly ErrorStatus[]) {
  return errors(errorEnvelopeSchema, [400, 401, 403, 404, 429, 500, 503, ...others]);
}

/** Contents of files: they come and go in pieces. */
export const FILE_CONTENT_ROUTES: readonly Route[] = [
  route({
    ...FILES,
    method: 'POST',
    path: '/files',
    operationId: 'uploadFile',
    summary: 'Store a file of at most 100 MiB',
    permission: 'files.change',
    request: { ...ONE_FILE, form: uploadSchema },
    responses: { 200: ok(fileSchema), ...refusals(408, 413, 415) },
    handler: async (call) => {
      const { exchange, services, times, settings } = call;
      const { request } = exchange;
      if (!request.hasBody) {
        throw new GatewayError(
          'invalid-request',
          'The request body is empty: send a form with a part named file',
        );
      }
      requireForm(request.header('content-type'), request.header('content-encoding'));
      const intake = await services.files.receive(call.caller, call.query);
      try {
        const filename = await readUpload(
          exchange,
          { maxBytes: MAX_FILE_BYTES, deadlineMs: times.uploadMs, tooLarge: fileTooLarge },
          (piece) => intake.write(piece),
        );
        const file = await intake.keep(filename);
        exchange.reply.json(200, fileObject(file, settings.vendor));
      } catch (error) {
        await intake.discard();
        throw error;
      }
    },
  }),
  route({
    ...FILES,
    method: 'GET',
    path: '/files/{file_id}/content',
    operationId: 'downloadFile',
    summary: 'The content of a file that the gateway made; that of uploads is not given out',
    permission: 'files.read',
    request: ONE_FILE,
    responses: {
      200: {
        description: 'The content',
        content: { 'application/octet-stream': Type.String({ format: 'binary' }) },
      },
      ...refusals(),
    },
    handler: async (call) => {
      const { exchange } = call;
      const { file, content } = await call.services.files.content(
        call.caller,
        call.params.file_id,
        call.query,
      );
      exchange.reply.beginBytes(file.sizeBytes);
      for await (const piece of content) {
        await exchange.reply.write(piece, exchange.signal);
        if (exchange.signal.aborted) return;
      }
      exchange.reply.end();
    },
  }),
];

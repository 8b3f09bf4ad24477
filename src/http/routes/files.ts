import Type from 'typebox';
import { errorEnvelopeSchema } from '../../contract/envelopes/error-envelope.ts';
import type { ErrorStatus } from '../../contract/envelopes/error-meanings.ts';
import {
  type FileQuery,
  type FilesQuery,
  fileDeletedSchema,
  fileListSchema,
  fileObject,
  fileQuerySchema,
  fileSchema,
  filesQuerySchema,
  uploadSchema,
} from '../../contract/workspaces/file.ts';
import { encodeEnvelope } from '../../dialects/shared/answers/error-envelope.ts';
import { GatewayError } from '../../ir/errors.ts';
import { fileTooLarge, MAX_FILE_BYTES } from '../../manage/files/file-intake.ts';
import { requireForm } from '../request/media-type.ts';
import { readUpload } from '../request/read-upload.ts';
import type { Call, Route } from '../route.ts';
import { callerOf, errors, ok } from './row-parts.ts';

const FILES = {
  mount: 'api',
  tag: 'Files',
  auth: 'any',
  rateClass: 'files',
  encodeError: encodeEnvelope,
} as const;

const ONE_FILE: Route['request'] = { query: fileQuerySchema, headers: null, body: null };

/** Refusals of every operation here, and others. */
function refusals(...others: readonly ErrorStatus[]) {
  return errors(errorEnvelopeSchema, [400, 401, 403, 404, 429, 500, 503, ...others]);
}

/** Files of a workspace. */
export const FILE_ROUTES: readonly Route[] = [
  {
    ...FILES,
    method: 'POST',
    path: '/files',
    operationId: 'uploadFile',
    summary: 'Store a file of at most 100 MiB',
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
      const intake = await services.files.receive(callerOf(call), call.query as FileQuery);
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
  },
  {
    ...FILES,
    method: 'GET',
    path: '/files',
    operationId: 'listFiles',
    summary: 'Files of a workspace, oldest first',
    request: { ...ONE_FILE, query: filesQuerySchema },
    responses: { 200: ok(fileListSchema), ...refusals() },
    handler: async (call) => {
      const { vendor } = call.settings;
      const { files, cursor } = await call.services.files.list(callerOf(call), call.query as FilesQuery);
      call.exchange.reply.json(200, {
        data: files.map((file) => fileObject(file, vendor)),
        has_more: cursor !== null,
        first_id: files.at(0)?.id ?? null,
        last_id: files.at(-1)?.id ?? null,
        cursor,
        next_page: cursor,
        _shape: vendor,
      });
    },
  },
  {
    ...FILES,
    method: 'GET',
    path: '/files/{file_id}',
    operationId: 'getFile',
    summary: 'What is known of a file',
    request: ONE_FILE,
    responses: { 200: ok(fileSchema), ...refusals() },
    handler: async (call) => {
      const file = await call.services.files.get(callerOf(call), idOf(call), call.query as FileQuery);
      call.exchange.reply.json(200, fileObject(file, call.settings.vendor));
    },
  },
  {
    ...FILES,
    method: 'GET',
    path: '/files/{file_id}/content',
    operationId: 'downloadFile',
    summary: 'The content of a file that the gateway made; that of uploads is not given out',
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
        callerOf(call),
        idOf(call),
        call.query as FileQuery,
      );
      exchange.reply.beginBytes(file.sizeBytes);
      for await (const piece of content) {
        await exchange.reply.write(piece, exchange.signal);
        if (exchange.signal.aborted) return;
      }
      exchange.reply.end();
    },
  },
  {
    ...FILES,
    method: 'DELETE',
    path: '/files/{file_id}',
    operationId: 'deleteFile',
    summary: 'Delete a file for good',
    request: ONE_FILE,
    responses: { 200: ok(fileDeletedSchema), ...refusals() },
    handler: async (call) => {
      const id = idOf(call);
      await call.services.files.delete(callerOf(call), id, call.query as FileQuery);
      call.exchange.reply.json(200, { id, type: 'file_deleted', _shape: call.settings.vendor });
    },
  },
];

function idOf({ params }: Call): string {
  return params.file_id ?? '';
}

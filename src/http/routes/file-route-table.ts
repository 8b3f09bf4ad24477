import Type from 'typebox';
import { errorEnvelopeSchema } from '../../contract/error-envelope.ts';
import {
  fileDeletedSchema,
  fileListSchema,
  fileQuerySchema,
  fileSchema,
  filesQuerySchema,
  uploadSchema,
} from '../../contract/file.ts';
import { encodeEnvelope } from '../../dialects/shared/answers/error-envelope.ts';
import { type ErrorStatus, errors, ok } from '../openapi/route-responses.ts';
import { deleteFile, downloadFile, listFiles, showFile, uploadFile } from './file-routes.ts';
import type { Route } from './route.ts';

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
    handler: uploadFile,
  },
  {
    ...FILES,
    method: 'GET',
    path: '/files',
    operationId: 'listFiles',
    summary: 'Files of a workspace, oldest first',
    request: { ...ONE_FILE, query: filesQuerySchema },
    responses: { 200: ok(fileListSchema), ...refusals() },
    handler: listFiles,
  },
  {
    ...FILES,
    method: 'GET',
    path: '/files/{file_id}',
    operationId: 'getFile',
    summary: 'What is known of a file',
    request: ONE_FILE,
    responses: { 200: ok(fileSchema), ...refusals() },
    handler: showFile,
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
    handler: downloadFile,
  },
  {
    ...FILES,
    method: 'DELETE',
    path: '/files/{file_id}',
    operationId: 'deleteFile',
    summary: 'Delete a file for good',
    request: ONE_FILE,
    responses: { 200: ok(fileDeletedSchema), ...refusals() },
    handler: deleteFile,
  },
];

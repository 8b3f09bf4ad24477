import {
  fileDeletedSchema,
  fileListSchema,
  fileObject,
  fileQuerySchema,
  fileSchema,
  filesQuerySchema,
} from '../contract/workspaces/file.ts';
import { type AnyEndpoint, endpoint } from './endpoint.ts';

const FILES = { tag: 'Files', rateClass: 'files', refusals: [403, 404, 503] } as const;

export const FILE_ENDPOINTS: readonly AnyEndpoint[] = [
  endpoint({
    ...FILES,
    method: 'GET',
    path: '/files',
    operationId: 'listFiles',
    summary: 'Files of a workspace, oldest first',
    permission: 'files.read',
    query: filesQuerySchema,
    reply: fileListSchema,
    run: async ({ services, settings: { vendor }, caller, query }) => {
      const { files, cursor } = await services.files.list(caller, query);
      return {
        data: files.map((file) => fileObject(file, vendor)),
        has_more: cursor !== null,
        first_id: files.at(0)?.id ?? null,
        last_id: files.at(-1)?.id ?? null,
        cursor,
        next_page: cursor,
        _shape: vendor,
      };
    },
  }),
  endpoint({
    ...FILES,
    method: 'GET',
    path: '/files/{file_id}',
    operationId: 'getFile',
    summary: 'What is known of a file',
    permission: 'files.read',
    query: fileQuerySchema,
    reply: fileSchema,
    run: async ({ services, settings, caller, params, query }) =>
      fileObject(await services.files.get(caller, params.file_id, query), settings.vendor),
  }),
  endpoint({
    ...FILES,
    method: 'DELETE',
    path: '/files/{file_id}',
    operationId: 'deleteFile',
    summary: 'Delete a file for good',
    permission: 'files.change',
    query: fileQuerySchema,
    reply: fileDeletedSchema,
    run: async ({ services, settings, caller, params: { file_id: id }, query }) => {
      await services.files.delete(caller, id, query);
      return { id, type: 'file_deleted' as const, _shape: settings.vendor };
    },
  }),
];

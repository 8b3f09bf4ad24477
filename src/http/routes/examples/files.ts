import type { FileObject } from '../../../contract/workspaces/file.ts';
import type { RouteExample } from '../../route.ts';

const FILE = {
  id: 'file_uoTdKqeNdVVPeSF7MDiX4vyZ',
  type: 'file',
  filename: 'notes.txt',
  mime_type: 'text/plain',
  size_bytes: 6,
  downloadable: false,
  created_at: '2026-11-17T05:17:05.229Z',
  _shape: 'signalbox',
} satisfies FileObject;

const BY_ID = { file_id: FILE.id };

/** Files of a workspace. */
export const FILE_EXAMPLES = {
  uploadFile: { form: { file: FILE.filename }, answer: FILE },
  listFiles: {
    answer: {
      data: [FILE],
      has_more: false,
      first_id: FILE.id,
      last_id: FILE.id,
      cursor: null,
      next_page: null,
      _shape: 'signalbox',
    },
  },
  getFile: { params: BY_ID, answer: FILE },
  // Of a file that the gateway made: that of an upload is refused.
  downloadFile: { params: { file_id: 'file_9TzQb1LrXw4NcYpE7aVd2HkM' }, answer: 'hello\n' },
  deleteFile: { params: BY_ID, answer: { id: FILE.id, type: 'file_deleted', _shape: 'signalbox' } },
} as const satisfies Record<string, RouteExample>;

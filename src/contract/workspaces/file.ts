import Type, { type Static } from 'typebox';
import { oneOf } from '../../kit/json/schema.ts';
import { nullable } from '../values/nullable.ts';
import { uuid } from '../values/uuid.ts';

/** Storage at a provider: declared so that it is refused and not silently ignored. */
const provider = Type.Optional(
  Type.String({ description: 'Not supported: files are stored in this gateway.' }),
);

const workspaceId = Type.Optional(uuid);

/** Query of every operation on one file, and of the upload. */
export const fileQuerySchema = Type.Object({ workspace_id: workspaceId, provider });

export type FileQuery = Static<typeof fileQuerySchema>;

const fileId = Type.Optional(Type.String({ minLength: 1, maxLength: 64 }));

/** Purposes that clients send. All mean the same here: the file can be named in requests. */
export const FILE_PURPOSES: readonly string[] = ['user_data', 'vision', 'assistants'];

export const filesQuerySchema = Type.Object({
  workspace_id: workspaceId,
  provider,
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1000, description: 'Page size; 100 without it.' }),
  ),
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 512, description: '`cursor` of the page before.' }),
  ),
  page: Type.Optional(
    Type.String({ minLength: 1, maxLength: 512, description: 'Another name of `cursor`.' }),
  ),
  after: fileId,
  after_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: 'Files behind this one; `after` is the same.' }),
  ),
  before_id: Type.Optional(Type.String({ description: 'Not supported: lists go forward.' })),
  purpose: Type.Optional(
    oneOf(FILE_PURPOSES, { description: 'Changes nothing: every file is for all of these.' }),
  ),
  order: Type.Optional(oneOf(['asc', 'desc'], { description: '`asc`; `desc` is not supported.' })),
});

export type FilesQuery = Static<typeof filesQuerySchema>;

/** Body of `POST /files`, as parts of a form. */
export const uploadSchema = Type.Object(
  {
    file: Type.String({
      format: 'binary',
      description: 'At most 100 MiB. Its type is detected from its content.',
    }),
    purpose: Type.Optional(
      oneOf(FILE_PURPOSES, {
        description: 'All of these mean what every file here is for: to be named in requests. Not kept.',
      }),
    ),
  },
  { additionalProperties: false },
);

export const fileSchema = Type.Object(
  {
    id: Type.String(),
    type: Type.Literal('file'),
    filename: Type.String(),
    mime_type: Type.String({ description: 'Told from the content.' }),
    size_bytes: Type.Integer(),
    downloadable: Type.Boolean({ description: 'Whether its content may be fetched: not that of uploads.' }),
    created_at: Type.String({ format: 'date-time' }),
    _shape: Type.String({ description: 'Whose form this object has.' }),
  },
  { description: 'What is known of a stored file.' },
);

export type FileObject = Static<typeof fileSchema>;

export const fileListSchema = Type.Object({
  data: Type.Array(fileSchema),
  has_more: Type.Boolean(),
  first_id: nullable(Type.String()),
  last_id: nullable(Type.String()),
  cursor: nullable(Type.String(), { description: 'Leads to the next page; null on the last.' }),
  next_page: nullable(Type.String(), {
    description: 'Another name of `cursor`, for clients that look for it.',
  }),
  _shape: Type.String(),
});

export const fileDeletedSchema = Type.Object({
  id: Type.String(),
  type: Type.Literal('file_deleted'),
  _shape: Type.String(),
});

export interface ShownFile {
  readonly id: string;
  readonly filename: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  readonly isDownloadable: boolean;
  readonly createdAtMs: number;
}

export function fileObject(file: ShownFile, vendor: string): FileObject {
  return {
    id: file.id,
    type: 'file',
    filename: file.filename,
    mime_type: file.mimeType,
    size_bytes: file.sizeBytes,
    downloadable: file.isDownloadable,
    created_at: new Date(file.createdAtMs).toISOString(),
    _shape: vendor,
  };
}

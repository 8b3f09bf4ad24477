import { type FileQuery, type FilesQuery, fileObject } from '../../contract/file.ts';
import { GatewayError } from '../../ir/errors.ts';
import { fileTooLarge, MAX_FILE_BYTES } from '../../manage/files/file-intake.ts';
import { hasBody } from '../server/declared-length.ts';
import { requireForm } from '../server/media-type.ts';
import { readUpload } from '../server/read-upload.ts';
import { callerOf } from './caller-of.ts';
import type { Call, Handler } from './route.ts';

/** `POST /files`. */
export const uploadFile: Handler = async (call) => {
  const { exchange, services, times, settings } = call;
  const { request } = exchange;
  if (!hasBody(request)) {
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
};

/** `GET /files`. */
export const listFiles: Handler = async (call) => {
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
};

/** `GET /files/{file_id}`. */
export const showFile: Handler = async (call) => {
  const file = await call.services.files.get(callerOf(call), idOf(call), call.query as FileQuery);
  call.exchange.reply.json(200, fileObject(file, call.settings.vendor));
};

/** `GET /files/{file_id}/content`. */
export const downloadFile: Handler = async (call) => {
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
};

/** `DELETE /files/{file_id}`. */
export const deleteFile: Handler = async (call) => {
  const id = idOf(call);
  await call.services.files.delete(callerOf(call), id, call.query as FileQuery);
  call.exchange.reply.json(200, { id, type: 'file_deleted', _shape: call.settings.vendor });
};

function idOf({ params }: Call): string {
  return params.file_id ?? '';
}

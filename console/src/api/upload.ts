import type { FileObject } from './contract.ts';
import { ApiError, addressOf, refusalFrom, SESSION_HEADERS, Unreachable } from './request.ts';

interface Upload {
  readonly file: File;
  /** Undefined = the workspace of the session's key. */
  readonly workspaceId: string | undefined;
  readonly onProgress: (sentBytes: number) => void;
  readonly signal: AbortSignal;
}

/** Stores a file. Its progress is known to XMLHttpRequest only. */
export function uploadFile({ file, workspaceId, onProgress, signal }: Upload): Promise<FileObject> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const form = new FormData();
    form.set('file', file);
    request.open('POST', addressOf('/files', { workspace_id: workspaceId }));
    for (const [name, value] of Object.entries(SESSION_HEADERS)) request.setRequestHeader(name, value);
    request.upload.addEventListener('progress', ({ loaded }) => onProgress(loaded));
    request.addEventListener('load', () => {
      const { status, responseText } = request;
      if (status >= 200 && status < 300) return resolve(JSON.parse(responseText) as FileObject);
      reject(refusalFrom(status, responseText, (name) => request.getResponseHeader(name)));
    });
    request.addEventListener('error', () => reject(new Unreachable('The gateway does not answer.')));
    request.addEventListener('abort', () => reject(new ApiError(499, 'The upload was stopped.')));
    signal.addEventListener('abort', () => request.abort());
    request.send(form);
  });
}

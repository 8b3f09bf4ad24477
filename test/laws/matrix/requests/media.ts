import {
  chat,
  everywhere,
  messages,
  type RequestChapter,
  responses,
  row,
  says,
  user,
} from '../request-feature.ts';

const PICTURE = 'iVBORw0KGgo=';
const PNG = `data:image/png;base64,${PICTURE}`;
const ANIMATION = 'R0lGODlh';
const GIF = `data:image/gif;base64,${ANIMATION}`;
const JPG = 'data:image/jpg;base64,/9j/4AAQ';
const PICTURE_URL = 'https://example.com/cat.png';
const DOCUMENT = 'JVBERi0xLjQ=';
const PDF = `data:application/pdf;base64,${DOCUMENT}`;
const DOCUMENT_URL = 'https://example.com/paper.pdf';
const SOUND = 'UklGRg==';
const CLIP_URL = 'https://example.com/clip.mp4';

const look = { type: 'input_text', text: 'Look.' };
const see = { type: 'text', text: 'Look.' };

export const MEDIA: RequestChapter = {
  title: 'Images and files',
  features: [
    row({
      title: 'Image by URL',
      note: 'Bedrock takes only `s3://` addresses; the model gets any other address as text.',
      asked: {
        responses: responses([user([look, { type: 'input_image', image_url: PICTURE_URL, detail: 'auto' }])]),
        messages: messages([user([see, { type: 'image', source: { type: 'url', url: PICTURE_URL } }])]),
        chat: chat([user([see, { type: 'image_url', image_url: { url: PICTURE_URL } }])]),
      },
      arrives: {
        responses: (body) => body.input[0].content[1].image_url === PICTURE_URL,
        messages: (body) => body.messages[0].content[1].source.url === PICTURE_URL,
        chat: (body) => body.messages[0].content[1].image_url.url === PICTURE_URL,
        gemini: (body) => body.contents[0].parts[1].fileData.fileUri === PICTURE_URL,
        bedrock: (body) => body.messages[0].content[1].text.includes(PICTURE_URL),
      },
      verdicts: {
        messages: 'kept kept kept kept adapted',
        responses: 'kept kept kept kept adapted',
        chat: 'kept kept kept kept adapted',
      },
    }),
    row({
      title: 'Image in base64',
      asked: {
        responses: responses([user([look, { type: 'input_image', image_url: PNG, detail: 'auto' }])]),
        messages: messages([
          user([see, { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PICTURE } }]),
        ]),
        chat: chat([user([see, { type: 'image_url', image_url: { url: PNG } }])]),
      },
      arrives: {
        responses: (body) => body.input[0].content[1].image_url === PNG,
        messages: (body) => body.messages[0].content[1].source.data === PICTURE,
        chat: (body) => body.messages[0].content[1].image_url.url === PNG,
        gemini: (body) => body.contents[0].parts[1].inlineData.data === PICTURE,
        bedrock: (body) => body.messages[0].content[1].image.source.bytes === PICTURE,
      },
    }),
    row({
      title: 'Detail of an image',
      asked: {
        responses: responses([user([look, { type: 'input_image', image_url: PNG, detail: 'low' }])]),
        chat: chat([user([see, { type: 'image_url', image_url: { url: PNG, detail: 'low' } }])]),
      },
      arrives: {
        ...everywhere(says('"low"')),
        responses: (body) => body.input[0].content[1].detail === 'low',
        chat: (body) => body.messages[0].content[1].image_url.detail === 'low',
      },
      verdicts: {
        messages: '-       -    -    -       -',
        responses: 'dropped kept kept dropped dropped',
        chat: 'dropped kept kept dropped dropped',
      },
    }),
    row({
      title: 'Image with a wrong media type (`image/jpg`)',
      asked: {
        responses: responses([user([look, { type: 'input_image', image_url: JPG, detail: 'auto' }])]),
        chat: chat([user([see, { type: 'image_url', image_url: { url: JPG } }])]),
      },
      arrives: {
        responses: (body) => body.input[0].content[1].image_url === JPG,
        messages: (body) => body.messages[0].content[1].source.media_type === 'image/jpeg',
        chat: (body) => body.messages[0].content[1].image_url.url === JPG,
        gemini: (body) => body.contents[0].parts[1].inlineData.mimeType === 'image/jpeg',
        bedrock: (body) => body.messages[0].content[1].image.format === 'jpeg',
      },
      verdicts: {
        messages: '- - - - -',
        responses: 'kept kept kept kept kept',
        chat: 'kept kept kept kept kept',
      },
    }),
    row({
      title: 'GIF',
      asked: {
        responses: responses([user([look, { type: 'input_image', image_url: GIF, detail: 'auto' }])]),
        messages: messages([
          user([
            see,
            { type: 'image', source: { type: 'base64', media_type: 'image/gif', data: ANIMATION } },
          ]),
        ]),
        chat: chat([user([see, { type: 'image_url', image_url: { url: GIF } }])]),
      },
      arrives: everywhere(says(ANIMATION)),
      verdicts: {
        messages: 'kept kept kept dropped kept',
        responses: 'kept kept kept dropped kept',
        chat: 'kept kept kept dropped kept',
      },
    }),
    row({
      title: 'Image of a rare type (TIFF)',
      asked: {
        responses: responses([
          user([look, { type: 'input_image', image_url: 'data:image/tiff;base64,SUkqAA==', detail: 'auto' }]),
        ]),
        chat: chat([
          user([see, { type: 'image_url', image_url: { url: 'data:image/tiff;base64,SUkqAA==' } }]),
        ]),
      },
      arrives: everywhere(says('SUkqAA==')),
      verdicts: {
        messages: '-       -    -    -       -',
        responses: 'dropped kept kept dropped dropped',
        chat: 'dropped kept kept dropped dropped',
      },
    }),
    row({
      title: 'PDF in base64',
      asked: {
        responses: responses([user([look, { type: 'input_file', filename: 'paper.pdf', file_data: PDF }])]),
        messages: messages([
          user([
            see,
            {
              type: 'document',
              title: 'paper.pdf',
              source: { type: 'base64', media_type: 'application/pdf', data: DOCUMENT },
            },
          ]),
        ]),
        chat: chat([user([see, { type: 'file', file: { filename: 'paper.pdf', file_data: PDF } }])]),
      },
      arrives: {
        responses: (body) => body.input[0].content[1].file_data === PDF,
        messages: (body) => body.messages[0].content[1].source.data === DOCUMENT,
        chat: (body) => body.messages[0].content[1].file.file_data === PDF,
        gemini: (body) => body.contents[0].parts[1].inlineData.data === DOCUMENT,
        bedrock: (body) => body.messages[0].content[1].document.source.bytes === DOCUMENT,
      },
      verdicts: {
        messages: 'kept kept kept adapted kept',
        responses: 'kept kept kept adapted kept',
        chat: 'kept kept kept adapted kept',
      },
    }),
    row({
      title: 'PDF by URL',
      asked: {
        responses: responses([user([look, { type: 'input_file', file_url: DOCUMENT_URL }])]),
        messages: messages([user([see, { type: 'document', source: { type: 'url', url: DOCUMENT_URL } }])]),
      },
      arrives: {
        responses: (body) => body.input[0].content[1].file_url === DOCUMENT_URL,
        messages: (body) => body.messages[0].content[1].source.url === DOCUMENT_URL,
        chat: (body) => says(DOCUMENT_URL)(body.messages[0]),
        gemini: (body) => body.contents[0].parts[1].fileData.fileUri === DOCUMENT_URL,
        bedrock: (body) => body.messages[0].content[1].text.includes(DOCUMENT_URL),
      },
      verdicts: {
        messages: 'kept kept adapted kept adapted',
        responses: 'kept kept adapted kept adapted',
        chat: '-    -    -       -    -',
      },
    }),
    row({
      title: 'Text document',
      asked: {
        responses: responses([
          user([
            look,
            {
              type: 'input_file',
              filename: 'notes.txt',
              file_data: `data:text/plain;base64,${Buffer.from('Remember the milk.').toString('base64')}`,
            },
          ]),
        ]),
        messages: messages([
          user([
            see,
            {
              type: 'document',
              source: { type: 'text', media_type: 'text/plain', data: 'Remember the milk.' },
            },
          ]),
        ]),
      },
      arrives: everywhere(
        (body) =>
          says('Remember the milk.')(body) ||
          says(Buffer.from('Remember the milk.').toString('base64'))(body),
      ),
      verdicts: {
        messages: 'kept kept adapted adapted kept',
        responses: 'kept kept kept    adapted kept',
        chat: '-    -    -       -       -',
      },
    }),
    row({
      title: 'File stored by a provider (`file-...`)',
      asked: {
        responses: responses([user([look, { type: 'input_file', file_id: 'file-123' }])]),
        messages: messages([
          user([see, { type: 'document', source: { type: 'file', file_id: 'file-123' } }]),
        ]),
        chat: chat([user([see, { type: 'file', file: { file_id: 'file-123' } }])]),
      },
      arrives: everywhere(says('file-123')),
      verdicts: {
        messages: 'kept    dropped dropped dropped dropped',
        responses: 'dropped kept    kept    dropped dropped',
        chat: 'dropped kept    kept    dropped dropped',
      },
    }),
    row({
      title: 'Audio',
      asked: {
        responses: responses([
          user([look, { type: 'input_audio', input_audio: { data: SOUND, format: 'wav' } }]),
        ]),
        chat: chat([user([see, { type: 'input_audio', input_audio: { data: SOUND, format: 'wav' } }])]),
      },
      arrives: everywhere(says(SOUND)),
      verdicts: {
        messages: '-       -    -    -    -',
        responses: 'dropped kept kept kept kept',
        chat: 'dropped kept kept kept kept',
      },
    }),
    row({
      title: 'Video',
      asked: {
        responses: responses([user([look, { type: 'input_video', video_url: CLIP_URL }])]),
        chat: chat([user([see, { type: 'video_url', video_url: { url: CLIP_URL } }])]),
      },
      arrives: everywhere(says(CLIP_URL)),
      verdicts: {
        messages: '-       -    -    -    -',
        responses: 'dropped kept kept kept adapted',
        chat: 'dropped kept kept kept adapted',
      },
    }),
  ],
};

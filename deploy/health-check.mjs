// The health check of the image: exits with 0 if the gateway of this container is ready. It asks by HTTPS if HTTP
// fails: the configuration may have a certificate, which names another host than this one.
import { get as getByHttp } from 'node:http';
import { get as getByHttps } from 'node:https';

const place = { port: process.env.PORT, path: '/readyz', rejectUnauthorized: false };
const judge = (response) => process.exit(response.statusCode === 200 ? 0 : 1);
getByHttp(place, judge).on('error', () => getByHttps(place, judge).on('error', () => process.exit(1)));

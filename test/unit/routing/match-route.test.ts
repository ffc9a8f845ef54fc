import t from 'tap';
import { matchRoute, routes } from '../../../src/routes/index.ts';

t.test('each route matches its own path, with its parameters undecoded', async (t) => {
  for (const route of routes) {
    const path = `/api/v1${route.path.replace(/:\w+/, 'a%20b')}`;
    const match = matchRoute(path);
    t.equal(match?.route, route, path);
    const [, name] = /:(\w+)/.exec(route.path) ?? [];
    t.same(match?.pathTexts, name === undefined ? {} : { [name]: 'a%20b' });
  }
});

t.test('no other path matches a route', async (t) => {
  const paths = [
    ...['', '/', '/api/v1', '/api/v1/', '/slot', '/api/v2/slot', '/x/api/v1/slot', '/api/v1slot', '//api/v1/slot'],
    ...['/api/v1/slot/', '/api/v1//slot', '/api/v1/slots', '/api/v1/SLOT', '/api/v1/balance', '/api/v1/balance/'],
    ...['/api/v1/balance/a/b', '/api/v1/:addr', '/api/v1/constructor', '/api/v1/stream', '/api/v1/openapi.json'],
  ];
  for (const path of paths) t.equal(matchRoute(path), undefined, path);
});

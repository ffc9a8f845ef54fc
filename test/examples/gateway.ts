// A gateway inside a program: node gateway.ts [NODE-URL]
import { createClient, createGateway } from 'slotgate';

const [, , node = 'http://127.0.0.1:8899'] = process.argv;
const gateway = await createGateway({ upstreams: [node], port: 0, log: { level: 'warn' } });
const { slot } = await createClient({ url: gateway.url, publicKey: gateway.publicKey }).get('/slot');
console.log(`${gateway.url} serves slot ${slot}`);
await gateway.close();

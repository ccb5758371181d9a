// Minimal Fastify peer that publishes forms to JetStream by nats.js, awaits the ack, and answers.
// CommonJS, because the packages lie elsewhere and only `require` finds them by NODE_PATH.

const { connect } = require('@nats-io/transport-node');
const { jetstream } = require('@nats-io/jetstream');
const Fastify = require('fastify');

const { LISTEN, NATS_URL, NATS_USER, NATS_PASSWORD, SUBJECT } = process.env;
const ANSWER = { success: true, message: 'Thank you. Your message has reached us.' };

/** Fastify compiles validation and serialization from schemas: its fast path. */
const text = { type: 'string', minLength: 1 };
const schema = {
  body: {
    type: 'object',
    required: ['name', 'email', 'message'],
    properties: { name: text, email: text, message: text },
  },
  response: {
    200: {
      type: 'object',
      properties: { success: { type: 'boolean' }, message: { type: 'string' } },
    },
  },
};

async function main() {
  const connection = await connect({ servers: NATS_URL, user: NATS_USER, pass: NATS_PASSWORD });
  const stream = jetstream(connection);
  const server = Fastify({ logger: false });
  server.post('/api/contact', { schema }, async request => {
    await stream.publish(SUBJECT, JSON.stringify(request.body));
    return ANSWER;
  });
  const [host, port] = LISTEN.split(':');
  await server.listen({ host, port: Number(port) });
}

main();

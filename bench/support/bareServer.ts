// A process of its own with one bare Express 5 route, which answers what ours answers: what the framework and the
// machine give when nothing is checked, logged, limited or stored.
import { once } from 'node:events'
import { createServer } from 'node:http'
import express, { type RequestHandler } from 'express'
import { bareRouteSchema } from './bareRoute.js'

async function serve(message: unknown): Promise<number> {
  const { method, path, status, body } = bareRouteSchema.parse(message)
  const app = express()
  const answer: RequestHandler = (_req, res) => {
    res.status(status).json(body)
  }
  if (method === 'GET') app.get(path, answer)
  else app.post(path, express.json(), answer)
  const server = createServer(app)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

process.on('message', (message) => {
  void serve(message).then((port) => process.send?.({ port }))
})
process.on('disconnect', () => process.exit(0))

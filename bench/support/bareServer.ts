// A process of its own with one bare Express 5 route, which answers what ours answers: what the framework and the
// machine give when nothing is checked, logged, limited or stored.
import express, { type RequestHandler } from 'express'
import { bareRouteSchema } from './bareRoute.js'
import { servePeer } from './peer.js'

servePeer(bareRouteSchema, ({ method, path, status, body }) => {
  const app = express()
  const answer: RequestHandler = (_req, res) => {
    res.status(status).json(body)
  }
  if (method === 'GET') app.get(path, answer)
  else app.post(path, express.json(), answer)
  return app
})

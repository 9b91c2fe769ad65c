// A process of its own with what one would write without us: Express and its usual middleware, and an insert into SQLite.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import cors from 'cors'
import express from 'express'
import rateLimit from 'express-rate-limit'
import helmet from 'helmet'
import { pino } from 'pino'
import { pinoHttp } from 'pino-http'
import { z } from 'zod'
import { servePeer } from './peer.js'

/** So that no request is refused. */
const PER_MINUTE = 1_000_000_000

servePeer(z.object({ directory: z.string() }), ({ directory }) => {
  const database = new DatabaseSync(join(directory, 'plain.db'))
  // As durable as ours.
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  database.exec('CREATE TABLE orders (id TEXT PRIMARY KEY, received_at TEXT NOT NULL, doc TEXT NOT NULL)')
  const insert = database.prepare('INSERT INTO orders VALUES (?, ?, ?) ON CONFLICT DO NOTHING')
  const app = express()
  app.use(helmet())
  app.use(cors({ origin: 'http://localhost:5173' }))
  app.use(pinoHttp({ logger: pino(pino.destination(join(directory, 'plain.log'))) }))
  app.use(
    rateLimit({ windowMs: 60_000, limit: PER_MINUTE, standardHeaders: 'draft-8', legacyHeaders: false }),
  )
  app.post('/orders', express.json(), (req, res) => {
    const { orderId, ct } = req.body
    const receivedAt = new Date().toISOString()
    const { changes } = insert.run(orderId, receivedAt, JSON.stringify(req.body))
    const result = changes === 1 ? 'received' : 'already-received'
    res.status(202).json({ orderId, result, commit: ct.slice(0, 66), receivedAt })
  })
  return app
})

// A server that ours is compared with, as a separate process. A bare route shows the limit of framework and machine: it has no
// checks, log, limits or store. The plain one is what a user would write instead.
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import cors from 'cors'
import { Contract, JsonRpcProvider, NonceManager, verifyTypedData, Wallet } from 'ethers'
import express, { type RequestHandler } from 'express'
import rateLimit from 'express-rate-limit'
import helmet from 'helmet'
import { pino } from 'pino'
import { pinoHttp } from 'pino-http'
import { confidentialLedgerAbi } from '../../src/chain/generated/confidentialLedgerAbi.js'
import { authorizationTypes } from '../../src/protocol/authorizationTypes.js'
import { portOf } from '../../src/server/http/listener.js'
import { type PeerTask, peerTaskSchema } from './peers.js'
import { answerTasks } from './processes.js'

type Route = Extract<PeerTask, { kind: 'bare' | 'plain' }>
type PlainRelay = Extract<PeerTask, { kind: 'plainRelay' }>

/** As many reads of one client as our server accepts by default. */
const PER_MINUTE = 400_000
/** Quicker than ethers' four seconds, which would be forty blocks here. */
const POLLING_MS = 50
const { PortfolioUpdate } = authorizationTypes

function routeApp({ kind, method, path, status, body, directory }: Route): RequestListener {
  const app = express()
  if (kind === 'plain') {
    app.use(helmet())
    app.use(cors({ origin: 'http://localhost:5173' }))
    app.use(pinoHttp({ logger: pino(pino.destination(join(directory, `plain-${process.pid}.log`))) }))
    const limits = { windowMs: 60_000, limit: PER_MINUTE, legacyHeaders: false }
    app.use(rateLimit({ ...limits, standardHeaders: 'draft-8' }))
  }
  const insert = kind === 'plain' && path === '/orders' ? openTable(directory) : undefined
  const answer: RequestHandler = (req, res) => {
    const changes = insert?.run(req.body.orderId, new Date().toISOString(), JSON.stringify(req.body)).changes
    if (changes === 0) throw new Error('the order is stored already')
    res.status(status).json(body)
  }
  if (method === 'GET') app.get(path, answer)
  else app.post(path, express.json(), answer)
  return app
}

/** As durable as ours, with a statement and a sync for each row. */
function openTable(directory: string) {
  const database = new DatabaseSync(join(directory, `plain-${process.pid}.db`))
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  database.exec('CREATE TABLE orders (id TEXT PRIMARY KEY, received_at TEXT NOT NULL, doc TEXT NOT NULL)')
  return database.prepare('INSERT INTO orders VALUES (?, ?, ?) ON CONFLICT DO NOTHING')
}

/** Express, ethers' Wallet and NonceManager, and `wait()`. */
function plainRelayApp({ rpcUrl, chainId, ledger, privateKey, signer, tuned }: PlainRelay): RequestListener {
  const provider = tuned
    ? new JsonRpcProvider(rpcUrl, chainId, { staticNetwork: true, pollingInterval: POLLING_MS })
    : new JsonRpcProvider(rpcUrl)
  const wallet = new NonceManager(new Wallet(privateKey, provider))
  const contract = new Contract(ledger, confidentialLedgerAbi, wallet)
  const updatePortfolio = contract.getFunction('updatePortfolio')
  const domain = { name: 'ConfidentialLedger', version: '1', chainId, verifyingContract: ledger }
  const app = express()
  app.post('/relay', express.json(), async (req, res) => {
    const { message, signature } = req.body
    if (verifyTypedData(domain, { PortfolioUpdate }, message, signature) !== signer) {
      res.sendStatus(422)
      return
    }
    const struct = PortfolioUpdate.map(({ name }) => message[name])
    const transaction = await updatePortfolio(struct, signature)
    const receipt = await transaction.wait()
    res.json({ status: 'confirmed', txHash: receipt.hash, blockNumber: receipt.blockNumber })
  })
  return app
}

answerTasks(peerTaskSchema, async (task) => {
  const server = createServer(task.kind === 'plainRelay' ? plainRelayApp(task) : routeApp(task))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: portOf(server) }
})

import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import express from 'express'
import helmet from 'helmet'
import * as z from 'zod'
import { type DeskSettings, deskSettingsSchema } from '../protocol/deskSettings.js'
import type { Hex } from '../protocol/hex.js'
import { peopleOf } from './accounts.js'
import { buildMissing } from './serverProcess.js'
import { ROOT, type SandboxFile } from './settings.js'

const FILES = join(ROOT, 'dist/web')

/** @throws CommandError `build-missing` */
export function assertDeskBuilt(): void {
  if (!existsSync(join(FILES, 'index.html'))) throw buildMissing('the page is', 'npm run build:web')
}

function deskSettings(deskUrl: string, info: SandboxFile, enclavePublicKey: Hex): DeskSettings {
  return {
    serverUrl: info.url,
    origin: deskUrl,
    chain: { id: info.chainId, name: 'Sandbox', rpcUrl: info.rpcUrl, firstBlock: 0 },
    pins: { enclavePublicKey, escrow: info.contracts.orderEscrow },
    demoWallets: peopleOf(info.accounts).map(({ name, part, address }) => ({ name, part, address })),
  }
}

/** Serves the built page on 127.0.0.1. Resolves with a function that ends it. */
export async function startDesk(
  deskUrl: string,
  info: SandboxFile,
  enclavePublicKey: Hex,
): Promise<() => Promise<void>> {
  const settings = deskSettings(deskUrl, info, enclavePublicKey)
  const app = express()
  app.use(helmet({ contentSecurityPolicy: { useDefaults: false, directives: deskPolicy(settings) } }))
  app.get('/desk.json', (_req, res) => {
    res.set('Cache-Control', 'no-store').json(z.encode(deskSettingsSchema, settings))
  })
  app.use(express.static(FILES))
  const server = createServer(app).listen(Number(new URL(deskUrl).port), '127.0.0.1')
  await once(server, 'listening')
  return async () => {
    server.closeAllConnections()
    await once(server.close(), 'close')
  }
}

/** The page's CSP: resources of its own origin, and requests to the server and the chain. */
export function deskPolicy({ serverUrl, chain: { rpcUrl } }: Pick<DeskSettings, 'serverUrl' | 'chain'>) {
  const self = ["'self'"]
  return {
    defaultSrc: ["'none'"],
    scriptSrc: self,
    styleSrc: self,
    imgSrc: [...self, 'data:'],
    connectSrc: [...self, serverUrl, ...(rpcUrl === null ? [] : [rpcUrl])],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  }
}

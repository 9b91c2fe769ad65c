import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import express from 'express'
import helmet from 'helmet'
import * as z from 'zod'
import { type DeskSettings, sandboxDeskSettings } from '../protocol/deskSettings.js'
import type { Hex } from '../protocol/hex.js'
import { peopleOf } from './accounts.js'
import type { Attested } from './attested.js'
import type { SandboxFile } from './localChain.js'
import { PAGES } from './settings.js'

/** @param trust the key from a file, or what an attested enclave is */
function deskSettings(info: SandboxFile, trust: Hex | Attested) {
  const escrow = info.contracts.orderEscrow
  return {
    serverUrl: info.url,
    origin: info.deskUrl ?? info.url,
    chain: { id: info.chainId, name: 'Sandbox', rpcUrl: info.rpcUrl, firstBlock: 0 },
    ...(typeof trust === 'string'
      ? { pins: { escrow, enclavePublicKey: trust } }
      : { pins: { escrow }, measurements: trust.programs, testRoot: trust.root }),
    demoWallets: peopleOf(info.accounts).map(({ name, part, address }) => ({ name, part, address })),
  }
}

/** Writes what the page's operator has, for the commands of the owner, who trusts the sandbox's own key. */
export async function writeDesk(directory: string, info: SandboxFile, enclavePublicKey: Hex): Promise<void> {
  const text = JSON.stringify(z.encode(sandboxDeskSettings(), deskSettings(info, enclavePublicKey)))
  await writeFile(join(directory, 'desk.json'), text, { mode: 0o600 })
}

/** Serves the built page on 127.0.0.1. Resolves with a function that ends it. */
export async function startDesk(deskUrl: string, info: SandboxFile, trust: Hex | Attested) {
  const settings = deskSettings(info, trust)
  const app = express()
  app.use(helmet({ contentSecurityPolicy: false }), (_req, res, next) => {
    res.set('Content-Security-Policy', deskPolicy(settings))
    next()
  })
  app.get('/desk.json', (_req, res) => {
    res.set('Cache-Control', 'no-store').json(z.encode(sandboxDeskSettings(), settings))
  })
  app.use(express.static(typeof trust === 'string' ? PAGES.shipped : PAGES.test))
  const server = app.listen(Number(new URL(deskUrl).port), '127.0.0.1')
  await once(server, 'listening')
  return async () => {
    server.closeAllConnections()
    await once(server.close(), 'close')
  }
}

/** The page's CSP: resources of its own origin, and requests to the server and the chain. */
export function deskPolicy({ serverUrl, chain }: Pick<DeskSettings, 'serverUrl' | 'chain'>): string {
  return [
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; manifest-src 'self'",
    `worker-src 'none'; connect-src 'self' ${[serverUrl, ...(chain.rpcUrl ? [chain.rpcUrl] : [])].join(' ')}`,
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ].join('; ')
}

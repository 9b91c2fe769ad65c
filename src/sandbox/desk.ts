import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import express, { type Express } from 'express'
import helmet from 'helmet'
import * as z from 'zod'
import { type DeskSettings, deskSettingsSchema } from '../protocol/deskSettings.js'
import { PEOPLE, type SandboxAccounts } from './accounts.js'
import type { Places } from './envFiles.js'
import { publicIdentity, type SandboxSecrets } from './secrets.js'
import { buildMissing } from './serverProcess.js'
import { ROOT } from './settings.js'

const FILES = join(ROOT, 'dist/web')

/** @throws CommandError `build-missing` */
export function assertDeskBuilt(): void {
  if (!existsSync(join(FILES, 'index.html'))) {
    throw buildMissing('the page is', 'npm run build:web')
  }
}

export function deskSettings(
  places: Places & { readonly deskUrl: string },
  secrets: SandboxSecrets,
  { owner, admin, employees, newcomer }: SandboxAccounts,
): DeskSettings {
  return {
    serverUrl: places.url,
    origin: places.deskUrl,
    chain: { id: places.chainId, name: 'Sandbox', rpcUrl: places.rpcUrl, firstBlock: 0 },
    pins: {
      enclavePublicKey: publicIdentity(secrets).intentPublicKey,
      escrow: places.contracts.orderEscrow,
    },
    demoWallets: [
      ...employees.map(({ address }, index) => ({
        name: PEOPLE.employees[index] ?? '',
        part: 'employee',
        address,
      })),
      { name: PEOPLE.admin, part: 'admin of the institution', address: admin.address },
      { name: PEOPLE.newcomer, part: 'newcomer, in no institution', address: newcomer.address },
      { name: PEOPLE.owner, part: 'operator, owner of the contracts', address: owner.address },
    ],
  }
}

/** Serves the built page on 127.0.0.1. It ends with `stop()`. */
export async function startDesk(port: number, settings: DeskSettings): Promise<{ stop(): Promise<void> }> {
  const server = createServer(deskApp(settings))
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    async stop() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
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

function deskApp(settings: DeskSettings): Express {
  const app = express()
  app.use(helmet({ contentSecurityPolicy: { useDefaults: false, directives: deskPolicy(settings) } }))
  app.get('/desk.json', (_req, res) => {
    res.set('Cache-Control', 'no-store').json(z.encode(deskSettingsSchema, settings))
  })
  app.use(express.static(FILES))
  return app
}

// Writes packages/client/api: the public types of the client package as built. test/client/package.test.ts fails where they differ.
import { mkdirSync, writeFileSync } from 'node:fs'
import { API, clientReports } from './clientApi/report.js'

mkdirSync(API, { recursive: true })
for (const [path, text] of clientReports()) writeFileSync(path, text)

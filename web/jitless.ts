import { config } from 'zod/mini'

// zod probes for JIT support by compiling code, which the page's CSP forbids and reports.
// Import this before any module that creates a schema.
config({ jitless: true })

FROM node:22-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts

# What production needs: no tools, no binaries of the embedded Postgres, no Prisma for other databases, no types.
RUN mkdir /app \
  && cp package.json package-lock.json .npmrc /app \
  && cd /app \
  && npm ci --omit=dev --omit=optional --ignore-scripts \
  && find node_modules/@prisma/client/runtime -name 'query_compiler_*' ! -name '*postgresql*' -delete \
  && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete

COPY . .
RUN npm run build \
  && mkdir /app/prisma \
  && cp -r dist /app/dist \
  && cp -r prisma/migrations /app/prisma/migrations

FROM node:22-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000
WORKDIR /app
COPY --from=build /app ./
USER node
EXPOSE 4000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/main.js"]

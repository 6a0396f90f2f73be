# The same Node that the project is developed on, pinned by the digest of its index of architectures.
ARG NODE=node:24.21.0-bookworm-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20

FROM ${NODE} AS build
WORKDIR /app
ARG REVISION=""
COPY package.json package-lock.json ./
# The base image has Node; the install script of the npm package `node` would only fetch it again.
RUN npm ci --ignore-scripts
COPY tsconfig.json config.example.yaml LICENSE ./
COPY scripts scripts
COPY src src
COPY docs docs
RUN REVISION="$REVISION" npm run build
# Node, its libraries, and the bundle with the code of its packages: no shell, no npm.
RUN scripts/image-root /image && install -d -m 0700 /state/beaconchain-exporter

FROM scratch
ENV NODE_ENV=production PATH=/usr/local/bin:/bin
# glibc takes most blocks of 16 KiB or more from the kernel, and gives them back when they are freed (docs/internals/performance.md).
ENV GLIBC_TUNABLES=glibc.malloc.mmap_threshold=16384:glibc.malloc.trim_threshold=65536:glibc.malloc.top_pad=0
COPY --from=build /image /
COPY --from=build --chown=1000:1000 /state /var/lib
# A number, so that Kubernetes can see that the user is not root.
USER 1000:1000
# The default of state.dir, and paths in flags and variables, are relative to the working directory.
WORKDIR /var/lib/beaconchain-exporter
VOLUME /var/lib/beaconchain-exporter
EXPOSE 10032
# Plain HTTP on the default port; with another port or TLS, give your own with --health-cmd. The check has no password, so 401 is
# healthy. Its agent ignores proxies, also with NODE_USE_ENV_PROXY.
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["node", "-e", "require('http').get('http://127.0.0.1:10032/-/healthy', { agent: false }, (r) => process.exit([200, 401].includes(r.statusCode) ? 0 : 1)).on('error', () => process.exit(1))"]
# The program handles SIGTERM itself and starts no children, so it needs no init as PID 1.
ENTRYPOINT ["beaconchain-exporter"]
CMD ["serve"]

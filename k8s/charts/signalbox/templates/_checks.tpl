{{/* What schemas cannot tell: each message begins with the key to change. */}}

{{/* Of one deployment: (dict "name" NAME "roles" LIST "owners" MAP of those before). */}}
{{- define "signalbox.checkRoles" -}}
{{- $key := printf "deployments.%s.roles" .name -}}
{{- if not .roles -}}
  {{- fail (printf "%s: name at least one of router, adapter, ingest, budget and cache" $key) -}}
{{- end -}}
{{- range .roles -}}
  {{- if eq . "batch" -}}
    {{- fail (printf "%s: the role batch is not built yet; take it out" $key) -}}
  {{- end -}}
  {{- with get $.owners . -}}
    {{- fail (printf "%s: the role is in deployments.%s.roles already; a role is in one deployment (%s)" $key . (join ", " $.roles)) -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{- define "signalbox.check" -}}
{{- include "signalbox.checkOwners" . -}}
{{- include "signalbox.checkDeployments" . -}}
{{- include "signalbox.checkConfig" .root -}}
{{- include "signalbox.checkSecrets" . -}}
{{- include "signalbox.checkTls" . -}}
{{- $image := .root.Values.image -}}
{{- if and (eq $image.tag "latest") (not $image.digest) -}}
  {{- fail "image.tag: `latest` may be another program tomorrow; name a version, or image.digest" -}}
{{- end -}}
{{- end -}}

{{- define "signalbox.checkOwners" -}}
{{- $owners := .plan.owners -}}
{{- $cached := ne (dig "cache" "enabled" true .root.Values.config) false -}}
{{- range list "router" "adapter" "ingest" "budget" "cache" -}}
  {{- if and (not (hasKey $owners .)) (or $cached (ne . "cache")) -}}
    {{- $hint := ternary ", or set config.cache.enabled to false" "" (eq . "cache") -}}
    {{- fail (printf "deployments: no deployment has the role %s; add it to the roles of one%s" . $hint) -}}
  {{- end -}}
{{- end -}}
{{- $models := or (ne (dig "cache" "embedder" "builtin" .root.Values.config) "builtin") (dig "cache" "verifier" "" .root.Values.config) -}}
{{- if and $models $cached (ne $owners.cache $owners.adapter) (eq $owners.adapter $owners.router) -}}
  {{- fail (printf "deployments.%s.roles: an adapter beside a router serves that router alone, and the cache needs one for config.cache.embedder or verifier; give the adapter a deployment of its own, or put the cache beside it" $owners.adapter) -}}
{{- end -}}
{{- end -}}

{{- define "signalbox.checkDeployments" -}}
{{- $values := .root.Values -}}
{{- range $name, $deployment := .plan.deployments -}}
  {{- $roles := $deployment.roles | default list -}}
  {{- $key := printf "deployments.%s" $name -}}
  {{- if and $deployment.embedded $deployment.several -}}
    {{- $url := ternary "clickhouse.url" "postgresql.url" (not (and (has "budget" $roles) (not $values.postgresql.url))) -}}
    {{- $what := ternary "hpa.enabled" "replicas" $deployment.hpa.enabled -}}
    {{- fail (printf "%s.%s: without %s what it keeps is in a file of one pod; have one replica and no hpa, or give %s" $key $what $url $url) -}}
  {{- end -}}
  {{- if and $deployment.hpa.enabled (gt (int $deployment.hpa.minReplicas) (int $deployment.hpa.maxReplicas)) -}}
    {{- fail (printf "%s.hpa.minReplicas: is above maxReplicas" $key) -}}
  {{- end -}}
  {{- $spends := or (has "router" $roles) (has "adapter" $roles) -}}
  {{- if and (not $values.nats.servers) (ne $spends (has "ingest" $roles)) -}}
    {{- fail (printf "nats.servers: is needed, since accounts travel between deployments: deployments.%s has not all of the roles router, adapter and ingest" $name) -}}
  {{- end -}}
  {{- if and (not (dig "cache" "enabled" true $values.config)) (eq (join "," $roles) "cache") -}}
    {{- fail (printf "%s.roles: the cache is switched off by config.cache.enabled; set %s.enabled to false" $key $key) -}}
  {{- end -}}
  {{- include "signalbox.checkEnv" (dict "root" $.root "key" $key "env" $deployment.extraEnv) -}}
{{- end -}}
{{- end -}}

{{/* One source for each variable: (dict "root" $ "key" KEY "env" LIST). */}}
{{- define "signalbox.checkEnv" -}}
{{- $owned := dict
  "SIGNALBOX_ADMIN_KEY" "adminKey.existingSecret"
  "SIGNALBOX_CACHE_SECRET" "cacheSecret.existingSecret"
  "POSTGRES_PASSWORD" "postgresql.password.existingSecret"
  "REDIS_PASSWORD" "redis.password.existingSecret"
  "CACHE_REDIS_PASSWORD" "cache.redis.password.existingSecret"
  "CLICKHOUSE_PASSWORD" "clickhouse.password.existingSecret"
  "NATS_PASSWORD" "nats.password.existingSecret"
  "SIGNALBOX_DATA_DIR" "spool"
  "SIGNALBOX_CONFIG" "config" -}}
{{- range .root.Values.vendorKeys }}{{ $_ := set $owned .env "vendorKeys" }}{{ end -}}
{{- range .env -}}
  {{- with get $owned .name -}}
    {{- fail (printf "%s.extraEnv: another variable of the same name is set by `%s`; use that alone" $.key .) -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{- define "signalbox.checkConfig" -}}
{{- $config := .Values.config -}}
{{- $owned := dict
  "server" "server, shutdown.longestStreamSeconds and service"
  "peers" "deployments"
  "mtls" "mtls"
  "nats" "nats"
  "redis" "redis"
  "telemetry" "telemetry"
  "budgets.store" "postgresql"
  "usage.store" "clickhouse and sqlite"
  "usage.spool" "spool"
  "cache.store" "cache.redis and cache.memory"
  "cache.secret" "cacheSecret.existingSecret" -}}
{{- range $path, $instead := $owned -}}
  {{- $steps := splitList "." $path -}}
  {{- $at := get $config (first $steps) -}}
  {{- range rest $steps }}{{ if kindIs "map" $at }}{{ $at = get $at . }}{{ else }}{{ $at = "" }}{{ end }}{{ end -}}
  {{- if or $at (and (eq (len $steps) 1) (hasKey $config $path)) -}}
    {{- fail (printf "config.%s: is written by the chart; use the values %s instead" $path $instead) -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{- define "signalbox.checkTls" -}}
{{- $values := .root.Values -}}
{{- $issuer := $values.mtls.certManager.issuerRef.name -}}
{{- range $name, $deployment := .plan.deployments -}}
  {{- if and $values.mtls.enabled (not $issuer) (not $deployment.mtls.existingSecret.name) -}}
    {{- fail (printf "deployments.%s.mtls.existingSecret.name: is needed with mtls.enabled, or mtls.certManager.issuerRef.name for all deployments" $name) -}}
  {{- end -}}
  {{- if and (not $values.mtls.enabled) $deployment.mtls.existingSecret.name -}}
    {{- fail (printf "deployments.%s.mtls.existingSecret.name: has no effect without mtls.enabled" $name) -}}
  {{- end -}}
{{- end -}}
{{- if and $issuer (not $values.mtls.enabled) -}}
  {{- fail "mtls.certManager.issuerRef: has no effect without mtls.enabled" -}}
{{- end -}}
{{- if and $values.server.tls.existingSecret.name (not $values.mtls.enabled) (gt (len .plan.deployments) 1) -}}
  {{- fail "server.tls.existingSecret.name: without mtls.enabled roles call each other in the clear at the port that this would encrypt; set mtls.enabled, too, or put all roles into one deployment" -}}
{{- end -}}
{{- end -}}

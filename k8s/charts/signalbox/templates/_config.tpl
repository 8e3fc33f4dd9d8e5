{{/* signalbox.yaml: what the chart knows, over what the operator gave. Dictionaries, so that each part can be had alone. */}}

{{/* Where the stores are, as JSON: all that the migrations need. (dict "root" $ "plan" PLAN) */}}
{{- define "signalbox.storesConfig" -}}
{{- $values := .root.Values -}}
{{- $config := dict "telemetry" (dict "log_format" $values.telemetry.logFormat "log_level" $values.telemetry.logLevel) -}}
{{- $ledger := include "signalbox.postgresConfig" (dict "store" $values.postgresql "need" "postgresql" "variable" "POSTGRES_PASSWORD") | fromJson -}}
{{- $_ := set $config "budgets" (dict "store" $ledger) -}}
{{- if hasKey .plan.owners "batch" -}}
  {{- $jobs := include "signalbox.batchPostgresql" .root | fromJson -}}
  {{- $jobs = include "signalbox.postgresConfig" (dict "store" $jobs "need" "batchPostgresql" "variable" "BATCH_POSTGRES_PASSWORD") | fromJson -}}
  {{- $_ := set $config "batch" (dict "store" $jobs) -}}
{{- end -}}
{{- $sqlite := dict -}}
{{- with $values.sqlite.retentionDays }}{{ $_ := set $sqlite "retention_days" (int .) }}{{ end -}}
{{- $usage := dict "sqlite" $sqlite -}}
{{- with $values.clickhouse -}}
  {{- if .url -}}
    {{- $clickhouse := dict "url" .url "database" .database -}}
    {{- with .user }}{{ $_ := set $clickhouse "user" . }}{{ end -}}
    {{- with .cluster }}{{ $_ := set $clickhouse "cluster" . }}{{ end -}}
    {{- with .retentionDays }}{{ $_ := set $clickhouse "retention_days" (int .) }}{{ end -}}
    {{- if include "signalbox.hasCa" . }}{{ $_ := set $clickhouse "ca_file" (printf "%s/ca.crt" (include "signalbox.caFolder" "clickhouse")) }}{{ end -}}
    {{- if .password.existingSecret.name }}{{ $_ := set $clickhouse "password" (dict "env" "CLICKHOUSE_PASSWORD") }}{{ end -}}
    {{- $usage = dict "clickhouse" $clickhouse -}}
  {{- end -}}
{{- end -}}
{{- $_ := set $config "usage" (dict "store" $usage) -}}
{{- toJson $config -}}
{{- end -}}

{{/* A store in PostgreSQL, or in a file where there is none, as JSON: (dict "store" VALUES "need" NAME "variable" NAME). */}}
{{- define "signalbox.postgresConfig" -}}
{{- $store := dict "sqlite" dict -}}
{{- if .store.url -}}
  {{- $url := .store.url -}}
  {{- if include "signalbox.hasCa" .store -}}
    {{- $url = printf "%s%ssslrootcert=%s/ca.crt" $url (ternary "&" "?" (contains "?" $url)) (include "signalbox.caFolder" .need) -}}
  {{- end -}}
  {{- $postgres := dict "url" $url -}}
  {{- if .store.password.existingSecret.name }}{{ $_ := set $postgres "password" (dict "env" .variable) }}{{ end -}}
  {{- $store = dict "postgres" $postgres -}}
{{- end -}}
{{- toJson $store -}}
{{- end -}}

{{/* Everything, as JSON: (dict "root" $ "plan" PLAN). */}}
{{- define "signalbox.config" -}}
{{- $values := .root.Values -}}
{{- $config := deepCopy ($values.config | default dict) -}}
{{- include "signalbox.overlay" (dict "into" $config "over" (include "signalbox.storesConfig" . | fromJson)) -}}
{{- with $values.telemetry.otlpEndpoint }}{{ $_ := set $config.telemetry "otlp_endpoint" . }}{{ end -}}
{{- $_ := set $config "server" (include "signalbox.serverConfig" .root | fromJson) -}}
{{- with include "signalbox.peersConfig" . | fromJson }}{{ $_ := set $config "peers" . }}{{ end -}}
{{- if $values.mtls.enabled -}}
  {{- $_ := set $config "mtls" (dict "certificate_file" "/etc/signalbox-mtls/tls.crt" "key_file" "/etc/signalbox-mtls/tls.key" "ca_file" "/etc/signalbox-mtls/ca.crt" "trust_domain" $values.mtls.trustDomain) -}}
{{- end -}}
{{- with include "signalbox.natsConfig" $values | fromJson }}{{ $_ := set $config "nats" . }}{{ end -}}
{{- with $values.redis }}{{ if .url -}}
  {{- $_ := set $config "redis" (include "signalbox.redisConfig" (dict "redis" . "variable" "REDIS_PASSWORD" "need" "redis") | fromJson) -}}
{{- end }}{{ end -}}
{{- $store := dict "memory" (dict "max_bytes" (int64 $values.cache.memory.maxBytes)) -}}
{{- with $values.cache.redis }}{{ if .url -}}
  {{- $store = dict "redis" (include "signalbox.redisConfig" (dict "redis" . "variable" "CACHE_REDIS_PASSWORD" "need" "cacheRedis") | fromJson) -}}
{{- end }}{{ end -}}
{{- $spool := dict "max_bytes" (int64 $values.spool.maxBytes) "alarm_at" $values.spool.alarmAt "sync_interval" $values.spool.syncInterval -}}
{{- include "signalbox.overlay" (dict "into" $config "over" (dict "cache" (dict "store" $store) "usage" (dict "spool" $spool))) -}}
{{- toJson $config -}}
{{- end -}}

{{- define "signalbox.serverConfig" -}}
{{- $host := .Values.server.listenAddress -}}
{{- if contains ":" $host }}{{ $host = printf "[%s]" $host }}{{ end -}}
{{- $server := dict
  "listen" (printf "%s:50051" $host)
  "health_listen" (printf "%s:50053" $host)
  "metrics_listen" (printf "%s:9464" $host)
  "max_message_bytes" (int64 .Values.server.maxMessageBytes)
  "drain_timeout" (printf "%ds" (int .Values.shutdown.longestStreamSeconds)) -}}
{{- if .Values.mtls.enabled }}{{ $_ := set $server "internal_listen" (printf "%s:50052" $host) }}{{ end -}}
{{- with .Values.server.runtimeThreads }}{{ $_ := set $server "runtime_threads" (int .) }}{{ end -}}
{{- if .Values.server.tls.existingSecret.name -}}
  {{- $_ := set $server "tls" (dict "certificate_file" "/etc/signalbox-tls/tls.crt" "key_file" "/etc/signalbox-tls/tls.key") -}}
{{- end -}}
{{- toJson $server -}}
{{- end -}}

{{/* The headless Service of each role that somebody calls from another deployment: (dict "root" $ "plan" PLAN). */}}
{{- define "signalbox.peersConfig" -}}
{{- $peers := dict -}}
{{- $scheme := ternary "https" "http" .root.Values.mtls.enabled -}}
{{- range $from, $callees := include "signalbox.arrows" . | fromJson -}}
  {{- range $callees -}}
    {{- if include "signalbox.crosses" (dict "plan" $.plan "from" $from "to" .) -}}
      {{- $_ := set $peers . (list (printf "%s://%s-%s:%s" $scheme (include "signalbox.fullname" $.root) . (include "signalbox.peerPort" $.root))) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- toJson $peers -}}
{{- end -}}

{{- define "signalbox.natsConfig" -}}
{{- $nats := dict -}}
{{- with .nats }}{{ if .servers -}}
  {{- $_ := set $nats "servers" .servers -}}
  {{- if .credentials.existingSecret.name }}{{ $_ := set $nats "credentials_file" "/etc/signalbox-nats/nats.creds" }}{{ end -}}
  {{- if .user }}{{ $_ := set $nats "user" .user }}{{ $_ := set $nats "password" (dict "env" "NATS_PASSWORD") }}{{ end -}}
  {{- with .replicas }}{{ $_ := set $nats "replicas" (int .) }}{{ end -}}
  {{- with .maxBytes }}{{ $_ := set $nats "max_bytes" (int64 .) }}{{ end -}}
  {{- if include "signalbox.hasCa" . }}{{ $_ := set $nats "ca_file" (printf "%s/ca.crt" (include "signalbox.caFolder" "nats")) }}{{ end -}}
{{- end }}{{ end -}}
{{- toJson $nats -}}
{{- end -}}

{{/* (dict "redis" VALUES "variable" NAME "need" NAME) */}}
{{- define "signalbox.redisConfig" -}}
{{- $redis := dict "url" .redis.url -}}
{{- with .redis.user }}{{ $_ := set $redis "user" . }}{{ end -}}
{{- if .redis.password.existingSecret.name }}{{ $_ := set $redis "password" (dict "env" .variable) }}{{ end -}}
{{- if include "signalbox.hasCa" .redis }}{{ $_ := set $redis "ca_file" (printf "%s/ca.crt" (include "signalbox.caFolder" .need)) }}{{ end -}}
{{- toJson $redis -}}
{{- end -}}

{{/* Of what is read at the start only: pods are replaced when it changes, and take over everything else by themselves. */}}
{{- define "signalbox.startChecksum" -}}
{{- $start := pick .config "server" "telemetry" "peers" "mtls" "nats" "access" "budgets" "redis" "batch" "usage" "alerts" -}}
{{- $_ := set $start "cache" (omit .config.cache "defaults") -}}
{{- toJson $start | sha256sum -}}
{{- end -}}

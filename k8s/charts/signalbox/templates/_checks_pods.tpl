{{/* What operators add to pods may not stand in the way of what the chart has there. */}}

{{/* Variables that are set by the chart, as JSON: name -> the key that they come from. */}}
{{- define "signalbox.ownVariables" -}}
{{- dict
  "SIGNALBOX_ADMIN_KEY" "adminKey.existingSecret"
  "SIGNALBOX_CACHE_SECRET" "cacheSecret.existingSecret"
  "POSTGRES_PASSWORD" "postgresql.password.existingSecret"
  "BATCH_POSTGRES_PASSWORD" "batch.postgresql.password.existingSecret"
  "REDIS_PASSWORD" "redis.password.existingSecret"
  "CACHE_REDIS_PASSWORD" "cache.redis.password.existingSecret"
  "CLICKHOUSE_PASSWORD" "clickhouse.password.existingSecret"
  "NATS_PASSWORD" "nats.password.existingSecret"
  "SIGNALBOX_DATA_DIR" "spool"
  "SIGNALBOX_CONFIG" "config"
  | toJson -}}
{{- end -}}

{{/* One source for each variable, and no secret among the values: (dict "root" $ "plan" PLAN "at" KEY "env" LIST). */}}
{{- define "signalbox.checkEnv" -}}
{{- $owned := include "signalbox.ownVariables" . | fromJson -}}
{{- range .root.Values.vendorKeys }}{{ $_ := set $owned .env "vendorKeys" }}{{ end -}}
{{- include "signalbox.checkTwice" (dict "plan" .plan "at" (printf "%s.extraEnv" .at) "items" .env "field" "name") -}}
{{- range .env -}}
  {{- $name := .name -}}
  {{- with get $owned $name -}}
    {{- include "signalbox.refuse" (list $.plan (printf "%s.extraEnv: %s is set by %s; give it there alone" $.at $name .)) -}}
  {{- end -}}
  {{- if and .value (regexMatch "(_KEY|_SECRET|_PASSWORD|_TOKEN)$" $name) -}}
    {{- include "signalbox.refuse" (list $.plan (printf "%s.extraEnv: %s looks like a secret, and everybody who may see pods could read it; give it by valueFrom.secretKeyRef" $.at $name)) -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/* Everything in a list once: (dict "plan" PLAN "at" KEY "items" LIST "field" NAME). */}}
{{- define "signalbox.checkTwice" -}}
{{- $seen := dict -}}
{{- range .items -}}
  {{- $name := get . $.field -}}
  {{- if hasKey $seen $name -}}
    {{- include "signalbox.refuse" (list $.plan (printf "%s: has %s twice; which of the two counted would be anybody's guess" $.at $name)) -}}
  {{- end -}}
  {{- $_ := set $seen $name true -}}
{{- end -}}
{{- end -}}

{{/* Names among the chart's own: (dict "plan" PLAN "at" KEY "items" LIST "field" NAME "own" PATTERN). */}}
{{- define "signalbox.checkOwn" -}}
{{- include "signalbox.checkTwice" . -}}
{{- range .items -}}
  {{- $name := get . $.field -}}
  {{- if regexMatch (printf "^(%s)$" $.own) $name -}}
    {{- include "signalbox.refuse" (list $.plan (printf "%s: %s is the chart's own; use another" $.at $name)) -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/* What is added to a pod: (dict "plan" PLAN "at" KEY "pod" VALUES). */}}
{{- define "signalbox.checkPod" -}}
{{- $at := .at -}}
{{- $plan := .plan -}}
{{- with .pod -}}
  {{- include "signalbox.checkOwn" (dict "plan" $plan "at" (printf "%s.extraVolumes" $at) "items" .extraVolumes "field" "name" "own" "config|data|tmp|tls|mtls|nats-credentials|(postgresql|batch-postgresql|redis|cache-redis|clickhouse|nats)-ca") -}}
  {{- include "signalbox.checkOwn" (dict "plan" $plan "at" (printf "%s.extraInitContainers" $at) "items" .extraInitContainers "field" "name" "own" "signalbox|migrate") -}}
  {{- $mounts := list -}}
  {{- $known := list "config" "data" "tmp" -}}
  {{- range .extraVolumes }}{{ $known = append $known .name }}{{ end -}}
  {{- range .extraVolumeMounts -}}
    {{- $mounts = append $mounts (dict "path" (clean .mountPath)) -}}
    {{- if not (has .name $known) -}}
      {{- include "signalbox.refuse" (list $plan (printf "%s.extraVolumeMounts: there is no volume %s; add it to extraVolumes" $at .name)) -}}
    {{- end -}}
  {{- end -}}
  {{- include "signalbox.checkOwn" (dict "plan" $plan "at" (printf "%s.extraVolumeMounts" $at) "items" $mounts "field" "path" "own" "(/etc/signalbox(-tls|-mtls|-nats|-ca)?|/var/lib/signalbox|/tmp)(/.*)?") -}}
  {{- include "signalbox.checkLabels" (dict "plan" $plan "at" (printf "%s.podLabels" $at) "labels" .podLabels "own" "app.kubernetes.io/(name|instance|component)|role.signalbox/.*") -}}
  {{- include "signalbox.checkLabels" (dict "plan" $plan "at" (printf "%s.podAnnotations" $at) "labels" .podAnnotations "own" "checksum/config|helm.sh/.*") -}}
  {{- $rolling := .strategy.rollingUpdate | default dict -}}
  {{- $none := list "0" "0%" -}}
  {{- if and (ne .strategy.type "Recreate") (has (toString $rolling.maxSurge) $none) (has (toString $rolling.maxUnavailable) $none) -}}
    {{- include "signalbox.refuse" (list $plan (printf "%s.strategy.rollingUpdate: with maxSurge and maxUnavailable at 0 no pod could ever be replaced; give either" $at)) -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/* (dict "plan" PLAN "at" KEY "labels" MAP "own" PATTERN) */}}
{{- define "signalbox.checkLabels" -}}
{{- range $name, $_ := .labels -}}
  {{- if regexMatch (printf "^(%s)$" $.own) $name -}}
    {{- include "signalbox.refuse" (list $.plan (printf "%s: %s is the chart's own, by which objects are found; take it out" $.at $name)) -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/* On objects that are not pods: (dict "root" $ "plan" PLAN). */}}
{{- define "signalbox.checkMetadata" -}}
{{- $values := .root.Values -}}
{{- $labels := dict "commonLabels" $values.commonLabels "serviceMonitor.labels" $values.serviceMonitor.labels "prometheusRule.labels" $values.prometheusRule.labels "grafanaDashboards.labels" $values.grafanaDashboards.labels -}}
{{- range $at, $given := $labels -}}
  {{- include "signalbox.checkLabels" (dict "plan" $.plan "at" $at "labels" $given "own" "app.kubernetes.io/(name|instance|component|version|managed-by)|helm.sh/chart|role.signalbox/.*") -}}
{{- end -}}
{{- include "signalbox.checkLabels" (dict "plan" .plan "at" "commonAnnotations" "labels" $values.commonAnnotations "own" "checksum/config|helm.sh/.*") -}}
{{- end -}}

{{/* Room for the spool: (dict "root" $ "plan" PLAN). */}}
{{- define "signalbox.checkSpool" -}}
{{- $spool := .root.Values.spool -}}
{{- $least := include "signalbox.spoolBytes" .root | int64 -}}
{{- $sizes := dict -}}
{{- with $spool.sizeLimit }}{{ $_ := set $sizes "spool.sizeLimit" . }}{{ end -}}
{{- if $spool.persistence.enabled }}{{ $_ := set $sizes "spool.persistence.size" $spool.persistence.size }}{{ end -}}
{{- range $at, $size := $sizes -}}
  {{- if lt (include "signalbox.bytes" $size | int64) $least -}}
    {{- include "signalbox.refuse" (list $.plan (printf "%s: spool.maxBytes and what is done with and not removed yet take %dMi; give at least as much" $at (div (add $least 1048575) 1048576))) -}}
  {{- end -}}
{{- end -}}
{{- end -}}

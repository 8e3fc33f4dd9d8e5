{{/* How many pods there are, and what they get. */}}

{{/* Of a deployment: (dict "root" $ "plan" PLAN "name" NAME "deployment" VALUES). */}}
{{- define "signalbox.checkScaling" -}}
{{- $key := printf "deployments.%s" .name -}}
{{- $own := get .root.Values.deployments .name | default dict -}}
{{- with .deployment -}}
  {{- $fewest := int (ternary .hpa.minReplicas .replicas .hpa.enabled) -}}
  {{- if .hpa.enabled -}}
    {{- if gt $fewest (int .hpa.maxReplicas) -}}
      {{- include "signalbox.refuse" (list $.plan (printf "%s.hpa.minReplicas: is more than maxReplicas" $key)) -}}
    {{- end -}}
    {{- if hasKey $own "replicas" -}}
      {{- include "signalbox.refuse" (list $.plan (printf "%s.replicas: has no effect with hpa.enabled; give hpa.minReplicas" $key)) -}}
    {{- end -}}
    {{- if not (or .hpa.targetCPUUtilizationPercentage .hpa.metrics) -}}
      {{- include "signalbox.refuse" (list $.plan (printf "%s.hpa.metrics: is empty, and so is targetCPUUtilizationPercentage; give what the number of pods follows" $key)) -}}
    {{- end -}}
  {{- end -}}
  {{- if and .pdb.enabled (gt $fewest 1) (ge (int .pdb.maxUnavailable) $fewest) -}}
    {{- include "signalbox.refuse" (list $.plan (printf "%s.pdb.maxUnavailable: all %d pods could be away at once; give fewer" $key $fewest)) -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/* Nobody asks for more than it may have: (dict "plan" PLAN "at" KEY "resources" VALUES). */}}
{{- define "signalbox.checkResources" -}}
{{- $limits := .resources.limits | default dict -}}
{{- range $name, $request := .resources.requests -}}
  {{- with get $limits $name -}}
    {{- if gt (include "signalbox.thousandths" $request | int64) (include "signalbox.thousandths" . | int64) -}}
      {{- include "signalbox.refuse" (list $.plan (printf "%s.resources.requests.%s: is more than limits.%s" $.at $name $name)) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- end -}}
